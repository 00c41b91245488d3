"""Pages that a store remembers."""

from contextlib import closing

from simhash_gate.stores import Record, open_store


def record(number: int, **named) -> Record:
    fields = {
        "scope": f"{'ab'[number % 2]}.example",
        "url": f"https://example.com/{number}",
        "key": f"{number:040x}",
        "fingerprint": 2**64 - 1 - (number << 20),
        "digest": 2**63 + number,
        "words": 100 + number,
        "title": f"Grüße {number} \0\ud800",
        "pipeline": "v1",
        "run": "crawl",
        "first_seen": 1.7e9 + number / 7,
        "last_seen": 1.7e9 + number,
        "sketch": bytes(range(number)),
        "gave": 2**63 - 1 - number,
    }
    return Record(**fields | named)


def remembered(url: str) -> list[Record]:
    with closing(open_store(url)) as store:
        return list(store.records())
