import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.fingerprints.hamming import from_hex, hamming_distance, similarity, to_hex

FINGERPRINTS = st.integers(0, 2**64 - 1)


@pytest.mark.parametrize(
    ("a", "b", "distance", "cosine"),
    [
        (0, 0, 0, 1.0),
        (0b1010, 0b0101, 4, 0.98079),
        (2**63, 0, 1, 0.99880),
        (0, 2**32 - 1, 32, 0.0),
        (0, 2**64 - 1, 64, -1.0),
    ],
)
def test_distance_counts_differing_bits_and_similarity_is_the_cosine(a, b, distance, cosine):
    assert hamming_distance(a, b) == hamming_distance(b, a) == distance
    assert similarity(a, b) == pytest.approx(cosine, abs=1e-5)


@pytest.mark.parametrize("value", [-1, 2**64])
def test_what_is_no_unsigned_64_bit_integer_is_refused(value):
    for function, values in (
        (hamming_distance, (value, 0)),
        (hamming_distance, (0, value)),
        (similarity, (value, value)),
        (to_hex, (value,)),
    ):
        with pytest.raises(ValueError, match="64-bit"):
            function(*values)


@given(FINGERPRINTS)
def test_the_hex_form_has_16_digits_and_reads_back(fingerprint):
    digits = to_hex(fingerprint)
    assert len(digits) == 16
    assert from_hex(digits) == from_hex(digits.upper()) == fingerprint
    for other in ("", "0" * 15, "0" * 17, "0x" + "0" * 14, "g" * 16, "+" + "0" * 15, "٣" * 16):
        with pytest.raises(ValueError, match="16 hex digits"):
            from_hex(other)
