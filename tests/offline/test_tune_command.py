"""`simhash-gate tune`, over pages on disk and over stores of known fingerprints."""

import pytest

from simhash_gate.settings import read_settings
from tests.offline.command import write_lines
from tests.offline.kept_pages import record

SITE = "https://hive.example"


@pytest.fixture
def crawl(write, manifest):
    """Pages 0 to 9, a copy of each, and other pages: a manifest."""
    lines = []
    for seed in range(10):
        for noise in (0, 1):
            name = f"{seed}-{noise}.html"
            write(name, seed, noise=noise)
            lines.append({"path": name, "url": f"{SITE}/{seed}?{noise}"})
    return manifest(*lines)


@pytest.fixture
def store(url, fill):
    """Write pages of these fingerprints to a store; return its URL."""

    def store(*fingerprints: int, scope: str = "hive.example", pipeline: str = "9c1f") -> str:
        run = f"{scope} {pipeline}"
        fields = {"scope": scope, "pipeline": pipeline, "run": run}
        pages = [(f"https://{scope}/{n}", bits) for n, bits in enumerate(fingerprints)]
        fill(
            *(
                record(n, url=page, key=page, fingerprint=bits, title=f"Page {n}", **fields)
                for n, (page, bits) in enumerate(pages)
            ),
            run=run,
        )
        return url

    return store


def bits(number: int) -> int:
    return (1 << number) - 1


def labels(manifest, distances: dict[int, tuple[int, int]], scope: str = "hive.example"):
    """A store's pages 1, 2, ... at these distances from page 0, so many of each label."""
    fingerprints, lines = [0], []
    for distance, (duplicates, others) in distances.items():
        for duplicate in [True] * duplicates + [False] * others:
            pair = {"a": f"https://{scope}/0", "b": f"https://{scope}/{len(fingerprints)}"}
            lines.append(pair | {"duplicate": duplicate})
            fingerprints.append(bits(distance))
    return fingerprints, manifest(*lines, name="labels.jsonl")


def test_a_crawl_is_shown_with_a_threshold_and_pairs_to_judge(run, crawl) -> None:
    result = run("tune", crawl)
    assert (result.status, result.err) == (0, "")
    assert "threshold 3 (as it is): " in result.out
    assert f" 0 bits  {SITE}/9?0\n           Story 9 (" in result.out
    [found] = run("tune", crawl, "--json").lines
    [scope] = found["scopes"]
    assert (scope["scope"], scope["pages"], scope["histogram"][0]) == ("hive.example", 20, 10)
    assert (scope["threshold"], scope["suggested"]) == (3, 3)
    [pair, *_] = scope["under"]
    assert (pair["distance"], pair["a"]["title"], pair["b"]["name"]) == (
        0,
        "Story 9",
        f"{SITE}/9?1",
    )


def test_labelled_pairs_decide_and_the_settings_can_be_pasted(run, store, manifest) -> None:
    known, file = labels(manifest, {1: (8, 0), 5: (8, 1), 6: (0, 8)})
    url = store(*known)
    result = run("tune", url, "--pairs", file)
    assert result.status == 0
    assert "threshold 5 (now 3): F1 0.970 on its labelled pairs (16 duplicates, 9 others)" in (
        result.out
    )
    settings: dict = {}
    exec(result.out.split("settings\n")[1], settings)
    assert settings["SIMHASH_GATE_THRESHOLD"] == 5
    del settings["__builtins__"]
    read_settings(settings)
    told = ("-s", "SIMHASH_GATE_THRESHOLD=5")
    assert run("tune", url, "--pairs", file, *told).out.endswith("as they are\n")


def test_a_domain_has_a_threshold_of_its_own_where_its_labels_say_so(run, store, manifest) -> None:
    one, first = labels(manifest, {1: (30, 0), 5: (30, 0), 7: (0, 30)})
    lines = first.read_text().splitlines()
    other, second = labels(manifest, {1: (6, 0), 2: (0, 9)}, scope="wasp.example")
    lines += second.read_text().splitlines()
    store(*one)
    url = store(*other, scope="wasp.example")
    result = run("tune", url, "--pairs", manifest(*lines), "--json")
    [found] = result.lines
    settings: dict = {}
    exec(found["settings"], settings)
    assert settings["SIMHASH_GATE_THRESHOLD"] in (5, 6)
    assert settings["SIMHASH_GATE_DOMAINS"]["wasp.example"] == {"threshold": 1}


def test_of_several_pipeline_versions_the_one_with_most_pages_is_taken(run, store) -> None:
    store(0, bits(20), 1 << 63, pipeline="new")
    url = store(1, pipeline="old")
    shown = run("tune", url, "--scope", "hive.example").out
    assert "threshold 3 (as it is): only labelled pairs can tell" in shown
    result = run("tune", url, "--json")
    assert result.status == 1
    assert "left out 1 page of other pipeline versions than 'new', that of 3 pages:" in result.err
    assert result.lines[0]["scopes"][0]["pages"] == 3


@pytest.fixture
def jams(write_named, manifest):
    """Six pages of other names that say the same, and four copies of the first: a manifest."""
    files = [*(f"Apple{n}" for n in range(5)), "Pear", "Plum", "Fig", "Lemon", "Melon"]
    for name in files:
        write_named(f"{name}.html", f"{name.rstrip('01234')} jam")
    return manifest(*({"path": f"{name}.html", "url": f"{SITE}/{name}"} for name in files))


def test_a_histogram_that_stands_at_0_over_other_names_is_no_reason(run, jams) -> None:
    out = run("tune", jams).out
    assert f"   0        9  {'█' * 40}  5 of another name\n" in out
    assert "threshold 3 (as it is): " in out
    assert "by their titles, 5 of 9 pages within the threshold have another name\n" in out
    [found] = run("tune", jams, "--json").lines
    [scope] = found["scopes"]
    assert (scope["histogram"][0], scope["other_names"][0]) == (9, 5)


def test_labels_that_say_nothing_are_named(run, crawl, manifest) -> None:
    file = manifest(
        {"a": f"{SITE}/0?0", "b": f"{SITE}/0?1", "duplicate": True},
        {"a": f"{SITE}/0?0", "b": "https://elsewhere.example/", "duplicate": True},
        {"a": f"{SITE}/0?0", "b": 7, "duplicate": True},
        {"a": f"{SITE}/0?0", "b": f"{SITE}/1?0", "duplicate": "yes"},
        name="labels.jsonl",
    )
    result = run("tune", crawl, "--pairs", file)
    assert result.status == 1
    assert f"{file}:3: 'b' is 7: expected a URL, or a path\n" in result.err
    assert f"{file}:4: 'duplicate' is 'yes': expected true or false\n" in result.err
    assert f"{file}: pairs that are not two pages of {crawl}: 1\n" in result.err
    assert "too few duplicates or others to choose a threshold\n" in result.out
    assert run("tune", crawl, "--pairs", "nowhere.jsonl").status == 1


def test_a_title_can_not_command_the_terminal(run, write) -> None:
    for noise in (0, 1):
        path = write(f"{noise}.html", 1, noise=noise)
        path.write_bytes(path.read_bytes().replace(b"Story 1", b"Story \x1b]0;evil\x07 &#27;[2J"))
    result = run("tune", "0.html", "1.html")
    assert result.out.startswith("(no URL)  2 pages\n")
    assert "Story" in result.out
    assert "\x1b" not in result.out
    assert "\x07" not in result.out


def test_pairs_without_labels_are_one_complaint(run, pages, tmp_path) -> None:
    write_lines(tmp_path / "labels.jsonl", [{"a": f"/{n}", "b": "/"} for n in range(99)])
    result = run("tune", pages.name, "--pairs", "labels.jsonl")
    assert result.status == 1
    told, *others = result.err.splitlines()
    assert told == 'labels.jsonl: no labelled pair in it. Give lines "duplicate": true or false'
    assert others == ["inputs that could not be used: 1"]
