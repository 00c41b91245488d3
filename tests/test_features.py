"""Fingerprints of one's own features: of weights, of stop words, of shingles of other sizes."""

import sys

import numpy as np
import pytest

from simhash_gate import Options, pipeline_version, read_page, simhash, similarity
from simhash_gate.features import Idf, character_shingles, shingles, stop_words
from simhash_gate.values import SettingsError
from tests.crawls.harness import crawl, page

WORDS = ["the", "cat", "sat", "on", "the", "mat"]


class Single:
    """Each word by itself, without English stop words."""

    version = 2

    def __init__(self) -> None:
        self._stops = stop_words("en")

    def __call__(self, words: list[str]) -> dict[str, float]:
        """Return the other words."""
        return dict.fromkeys((word for word in words if word not in self._stops), 1.0)


class Broken:
    """Fails on every page."""

    def __call__(self, words: list[str]) -> dict[str, float]:
        """Raise what it can."""
        raise KeyError("no weight")


OWN, BROKEN = (Options(features=f"{__name__}.{name}") for name in ("Single", "Broken"))


def test_shingles_are_words_or_characters_in_a_row() -> None:
    assert shingles(WORDS, 4) == ["the cat sat on", "cat sat on the", "sat on the mat"]
    assert shingles(WORDS[:2]) == ["the cat"]
    assert character_shingles("abcdef") == ["abcde", "bcdef"]
    assert shingles([]) == character_shingles("") == []


def test_rare_features_weigh_more_and_weights_can_be_kept(tmp_path) -> None:
    pages = [read_page(page(seed).body) for seed in range(4)]
    common = read_page(b"<article><p>every page says this sentence here</p></article>")
    idf = Idf.fit([*pages, common, common], lambda words: words)
    weights = idf.weigh(["sentence", "unheard", "unheard"])
    assert weights.keys() == {"sentence", "unheard"}
    assert weights["unheard"] > weights["sentence"] > 1
    idf.save(tmp_path / "idf.json")
    assert Idf.load(tmp_path / "idf.json").weigh(["sentence"]) == idf.weigh(["sentence"])


def test_stop_words_are_those_of_a_language() -> None:
    assert {"the", "und"} <= stop_words("en", "de")
    assert "und" not in stop_words("en")
    with pytest.raises(ValueError, match="no stop words of xx"):
        stop_words("en", "xx")


def test_a_class_of_ones_own_decides_the_fingerprint_and_the_version() -> None:
    body = b"<article><p>The quick brown fox jumps over the lazy dog of a nearby farm</p></article>"
    other = body.replace(b"The quick", b"A quick").replace(b"over the", b"over a")
    mine, plain = (read_page(body, options=options) for options in (OWN, Options()))
    assert mine.fingerprint == simhash(Single()(mine.lines.decode().split()))
    assert mine.fingerprint == read_page(other, options=OWN).fingerprint != plain.fingerprint
    assert (mine.digest, mine.markdown) == (plain.digest, plain.markdown)
    version, Single.version = pipeline_version(OWN), 3
    assert len({version, pipeline_version(OWN), pipeline_version()}) == 3
    nothing = read_page(b"<article><p>the of and the</p></article>", options=OWN)
    assert (nothing.fingerprint, nothing.reason) == (None, "no features")


class Stopped(Single):
    def __init__(self):
        self.stops = stop_words("en")


def test_a_class_that_fails_or_is_none_is_told(tmp_path, monkeypatch) -> None:
    assert "no weight" in str(read_page(b"<p>some words", options=BROKEN).reason)
    with pytest.raises(SettingsError, match="expected the path of a class"):
        Options(features="nowhere.Single")
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)
    with pytest.raises(SettingsError, match=r"Stopped: stop_words needs .*simhash-gate\[features"):
        Options(features=f"{__name__}.Stopped")
    settings = {"SIMHASH_GATE_FEATURES": f"{__name__}.Broken", "SIMHASH_GATE_WORKERS": "1"}
    result = crawl(tmp_path, {"/a": page(1), "/b": page(1, noise=2)}, settings=settings)
    assert result.delivered() == ["/a", "/b"]
    assert result.log.count(" unjudged: ") == 2


def test_a_crawl_with_weights_of_its_own_drops_the_same_copies(tmp_path) -> None:
    settings = {"SIMHASH_GATE_FEATURES": f"{__name__}.Single", "CONCURRENT_REQUESTS": "1"}
    routes = {"/a": page(1), "/b": page(1, noise=2), "/c": page(3)}
    for workers in ("0", "1"):
        settings["SIMHASH_GATE_WORKERS"] = workers
        result = crawl(tmp_path / workers, routes, "/a /b /c", settings=settings)
        assert result.delivered() == ["/a", "/c"]


def test_similarity_estimates_the_cosine_of_weights() -> None:
    rng = np.random.default_rng(5)
    told, true = [], []
    for number in range(100):
        names = [f"{number} {place}" for place in range(1500)]
        weights = dict(zip(names, rng.uniform(1, 5, len(names)), strict=True))
        a, b = ({name: weights[name] for name in its} for its in (names[:1200], names[300:]))
        told.append(similarity(simhash(a), simhash(b)))
        dot = sum(a[name] * b[name] for name in a.keys() & b.keys())
        true.append(dot / np.prod([np.sqrt(sum(v * v for v in its.values())) for its in (a, b)]))
    assert np.mean(true) == pytest.approx(0.75, abs=0.01)
    assert np.mean(told) == pytest.approx(np.mean(true), abs=0.05)
