// A way in from Python without Cython: what simhash-py's find_all calls.
#include "simhash.h"

extern "C" size_t count_pairs(const uint64_t *values, size_t size, size_t blocks, size_t bits) {
    std::unordered_set<Simhash::hash_t> hashes(values, values + size);
    return Simhash::find_all(hashes, blocks, bits).size();
}
