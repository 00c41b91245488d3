"""Lines of a verdict log, made up."""

from typing import Any

from simhash_gate.report.summary import Summary

NOON = 1_717_243_200.0  # of 1 June 2024, UTC
SITE = "https://example.com/"


def verdict(path: str = "a", outcome: str = "new", **given: Any) -> dict[str, Any]:
    """Return a line as a crawl writes it; one with a `kept` path has been compared with it."""
    kept = given.pop("kept", None)
    url = path if ":" in path else SITE + path
    line = {
        "id": None,
        "url": url,
        "outcome": outcome,
        "distance": None if kept is None else 0,
        "matched_url": None if kept is None else SITE + kept,
        "fingerprint": "b0621b61d9d51ad2",
        "reason": "distance 0, threshold 3" if kept else "no similar page is remembered",
        "differs": None,
        "title": f"About {path}",
        "words": 300,
        "matched_title": None if kept is None else f"About {kept}",
        "matched_words": None if kept is None else 300,
        "threshold": 3,
        "near": 8,
        "dropped": outcome == "duplicate",
        "bytes": 1_000,
        "time": NOON,
    }
    return line | given


def copy(path: str, kept: str, distance: int = 0, **given: Any) -> dict[str, Any]:
    """Return the line of a duplicate."""
    return verdict(path, "duplicate", kept=kept, distance=distance, **given)


def near(path: str, kept: str, distance: int = 5, **given: Any) -> dict[str, Any]:
    """Return the line of a page that passed although it was near another."""
    return verdict(path, "near", kept=kept, distance=distance, **given)


def crawl(name: str = "news", **given: Any) -> dict[str, Any]:
    """Return the line of a crawl."""
    versions = {"simhash_gate": "0.1.0", "scrapy": "2.15.0", "pipeline": "9c1f"}
    said = {"by": "crawl", "name": name, "started": NOON, "versions": versions}
    return {"crawl": said | {"settings": {}, "domains": {}} | given}


def summary_of(*lines: dict[str, Any]) -> Summary:
    """Return what a report gathers of some lines."""
    summary = Summary()
    for line in lines:
        summary.add_line(line)
    return summary
