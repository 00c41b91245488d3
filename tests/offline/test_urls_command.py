"""`simhash-gate urls`: which logs it takes, and what it tells of the rules that it suggests."""

import gzip
import json

import pytest

URL = "https://example.com/a"


@pytest.fixture
def log(manifest):
    """Write the log of a crawl that met pages with and without `ref`; return its path."""

    def log(name: str, *more: dict, many: int = 40):
        pages = [
            line
            for n in range(many)
            for line in (
                {"url": f"{URL}?id={n}", "outcome": "new"},
                {
                    "url": f"{URL}?id={n}&ref={n % 3}",
                    "outcome": "duplicate",
                    "matched_url": f"{URL}?id={n}",
                },
            )
        ]
        head = {"crawl_note": {"message": "m"}, "crawl": {"name": "news"}}
        return manifest(head, *pages, *more, name=name)

    return log


def test_the_rules_go_to_stdout_and_the_evidence_of_each_to_stderr(run, log) -> None:
    lost = {"url": f"{URL}?id=3&ref=9", "outcome": "new"}
    result = run("urls", log("log.jsonl", lost, many=60))
    assert result.status == 0
    (rule,) = json.loads(result.out)
    assert rule["urlPattern"]["include"] == ["example.com/"]
    assert rule["urlPattern"]["exclude"] == ["example.com/a|?id=3&ref=9"]
    assert (rule["processor"], rule["args"]) == ("queryRemoval", ["ref"])
    told, evidence, *examples = result.err.splitlines()
    assert told == "example.com/ without ref=…"
    assert evidence.strip() in rule["comment"]
    assert "fetches spared: 60, contradictions: 1; with 95 % confidence, at most 7." in evidence
    assert examples[:4] == [
        *(f"   {URL}?id={n}&ref={n} is {URL}?id={n}" for n in range(3)),
        f"   {URL}?id=3&ref=9 IS NOT {URL}?id=3",
    ]
    assert examples[4] == "pages: 121, rules: 1"
    assert examples[5] in rule["comment"]
    assert 'meta={"dud": False}' in examples[5]


def test_the_rule_that_spares_most_is_told_first_and_the_file_has_the_order_of_hosts(
    run, log, manifest
) -> None:
    log("a.jsonl")
    text = log("b.jsonl", many=90).read_text()
    manifest(text.replace("example.com", "z.example"), name="b.jsonl")
    result = run("urls", "a.jsonl", "b.jsonl")
    told = [line for line in result.err.splitlines() if line.endswith("without ref=…")]
    assert told == ["z.example/ without ref=…", "example.com/ without ref=…"]
    hosts = [rule["urlPattern"]["include"][0] for rule in json.loads(result.out)]
    assert hosts == ["example.com/", "z.example/"]
    assert [rule["urlPattern"]["priority"] for rule in json.loads(result.out)] == [0, -1]


def test_logs_come_from_folders_stdin_gzip_or_projects(run, run_with_input, log, tmp_path) -> None:
    path = log("log.jsonl")
    expected = run("urls", path).out
    assert run_with_input(path.read_text(), "urls", "-").out == expected
    place = tmp_path / ".scrapy/simhash_gate"
    place.mkdir(parents=True)
    (place / "news.jsonl").write_bytes(path.read_bytes())
    assert run("urls").out == expected
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "news.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    result = run("urls", "logs", "-o", "rules.json")
    assert (result.status, result.out) == (0, "")
    assert (tmp_path / "rules.json").read_text() == expected


def test_a_log_without_enough_pages_gives_no_rule_and_says_what_one_needs(run, log) -> None:
    result = run("urls", log("log.jsonl", many=9))
    assert (result.status, json.loads(result.out)) == (0, [])
    assert "A rule needs 29 pages that came by several URLs" in result.err


def test_what_is_no_verdict_is_complained_of(run, log, manifest) -> None:
    log("log.jsonl", {"url": "http://[", "outcome": "new"}, {"url": URL, "outcome": "odd"})
    manifest({"text": "a page"}, name="pages.jsonl")
    wrong = {"url": 3, "outcome": "new"}
    manifest({"url": "a.html", "outcome": "new"}, wrong, name="files.jsonl")
    result = run("urls", "log.jsonl", "pages.jsonl", "missing.jsonl", "files.jsonl")
    assert (result.status, len(json.loads(result.out))) == (1, 1)
    assert "log.jsonl:82: Invalid IPv6 URL" in result.err
    assert "pages.jsonl: not a verdict log" in result.err
    assert "missing.jsonl: No such file or directory" in result.err
    assert "files.jsonl:2: 'url' is 3" in result.err
    assert "pages: 80, rules: 1" in result.err
    nothing = run("urls", "files.jsonl")
    assert (nothing.status, nothing.out) == (1, "")
    assert "no verdict on a page in it" in nothing.err
