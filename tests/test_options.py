"""The options of reading a page, and the version that they make; what the library refuses."""

import pickle
from contextlib import closing

import numpy as np
import pytest

from simhash_gate import (
    Gate,
    HammingIndex,
    Policy,
    Visit,
    hamming_distance,
    near_duplicate_pairs,
    open_store,
    read_page,
    simhash,
    verdict_of,
    why,
)
from simhash_gate.features import Idf, character_shingles, shingles
from simhash_gate.options import READABILITY, Options, pipeline_version

URL = "https://a.example/"
VISIT = Visit(URL, "a.example", "a")
FIELDS = Policy(compare=("h1",))
PAGE = read_page(b"<p>A page of some words")


@pytest.mark.parametrize(("field", "value"), [("extractor", "no.such.Extractor"), ("extractor", 5)])
def test_a_wrong_option_names_itself_its_value_and_what_is_allowed(field, value):
    with pytest.raises(ValueError, match=rf"^{field}.*expected"):
        Options(**{field: value})


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda _: read_page(None), "the bytes of a page, not None"),
        (lambda _: read_page("text"), "the bytes of a page, not 'text'"),
        (lambda _: read_page(b"", url=None), "a URL as a string, not None"),
        (lambda _: read_page(b"", encoding=8), "the name of an encoding, not 8"),
        (lambda _: read_page(b"", options=None), "expected Options, not None"),
        (lambda _: pipeline_version(READABILITY), "expected Options, not 'simhash_gate"),
        (lambda _: Options(features="collections.Counter"), "path of a class .* called"),
        (lambda _: Policy(threshold=99), "threshold = 99: expected a whole number from 0 to 64"),
        (lambda _: Policy(action="remove"), "action = 'remove': expected one of 'drop'"),
        (lambda _: Visit("https://a.example/", None, "key"), "the scope of a visit as a string"),
        (lambda _: open_store(None), "the URL of a store, not None"),
        (lambda _: Gate("memory:", run="r", pipeline=""), "a store, as .* returns it"),
        (lambda gate: gate.store.begin(None), "the name of a run"),
        (lambda gate: gate.judge("text", url="https://a.example/"), "expected a Page"),
        (lambda gate: gate.judge(PAGE), "a visit, or the url of one, not None"),
        (lambda gate: gate.judge(PAGE, "https://a.example/"), "expected a Policy, not 'https:"),
        (lambda gate: gate.judge(PAGE, Policy(), "https://a.example/"), "expected a Visit"),
        (lambda gate: gate.judge(PAGE, url=URL, at="now"), "a Unix time in seconds, not 'now'"),
        (lambda gate: gate.judge(PAGE, url=URL, at=float("nan")), "in seconds, not nan"),
        (lambda _: Visit(URL, "a", "a", float("inf")), "a Unix time in seconds, not inf"),
        (lambda _: Visit(URL, "a", "a", 1.7e12), "a Unix time in seconds, not 17000"),
        (lambda _: Visit(URL, "a", "a", "2026-01-01"), "in seconds, not '2026-01-01'"),
        (lambda _: Visit(URL, "a", "a", None), "a Unix time in seconds, not None"),
        (lambda gate: gate.judge(PAGE, visit=VISIT, url=URL), "or the url .* not both"),
        (lambda gate: gate.judge(PAGE, visit=VISIT, at=0), "or the url .* not both"),
        (lambda gate: gate.judge(PAGE, FIELDS, url=URL), r"read with Options\(compare=\('h1',\)\)"),
        (lambda _: Options(compare=("h1[",)), "compare: 'h1\\[' is no CSS selector"),
        (lambda _: Options(compare=5), "compare = 5: expected CSS selectors, or a mapping"),
        (lambda gate: Gate(gate.store, run=None, pipeline="v1"), "the name of a run, not None"),
        (
            lambda gate: Gate(gate.store, run="r", pipeline=None),
            "a version, as of",
        ),
        (lambda gate: Gate(gate.store, run="r", pipeline=""), "a version, as of"),
        (lambda gate: Gate(gate.store, run="r", pipeline=Options()), "not Options"),
        (lambda gate: gate.store.end(None), "the name of a run, not None"),
        (lambda gate: gate.store.forget("https://a.example/"), "a record, as records"),
        (lambda _: PAGE.markdown_without("link"), "expected 'links' or 'images', not 'link'"),
        (lambda _: verdict_of(None), "a response of Scrapy, not None"),
        (lambda _: why(None), "a response of Scrapy, not None"),
        (lambda _: Idf.fit([None]), "a Page, as read_page"),
        (lambda _: shingles(["a", "b"], 0), "a size of at least 1, not 0"),
        (lambda _: character_shingles("abc", -1), "a size of at least 1, not -1"),
        (lambda _: near_duplicate_pairs([1, None]), "not an unsigned 64-bit fingerprint: None"),
        (lambda _: near_duplicate_pairs([1, 2**64]), "64-bit fingerprint: 18446744073709551616"),
        (lambda _: near_duplicate_pairs([[1, 2]]), r"64-bit fingerprint: \[1, 2\]"),
        (lambda _: near_duplicate_pairs(np.array([1.0])), r"np.uint64\), not float64 of the"),
        (lambda _: HammingIndex().insert_bulk(np.ones((2, 2), int)), r"in a row.* \(2, 2\)"),
        (lambda _: hamming_distance(1, None), "not an unsigned 64-bit fingerprint: None"),
        (lambda _: hamming_distance(PAGE, PAGE), r"fingerprint: Page\(title="),
        (lambda _: HammingIndex().insert("a"), "not an unsigned 64-bit fingerprint: 'a'"),
        (lambda _: HammingIndex("3"), "not a Hamming distance from 0 to 64: '3'"),
        (lambda _: HammingIndex(3, "x"), "not a number of blocks from 1 to 64: 'x'"),
        (lambda _: simhash("a b"), "expected strings, or a mapping .* not 'a b'"),
        (lambda _: simhash({1: 1.0}), "expected strings, or a mapping"),
        (lambda _: simhash({"a": float("nan")}), "finite weights"),
        (lambda _: simhash({"a": 10**400}), "finite weights"),
    ],
)
def test_an_error_of_the_caller_is_no_answer_and_says_what_is_expected(call, expected):
    with closing(open_store("memory:")) as store:
        gate = Gate(store, run="run", pipeline=pipeline_version())
        with pytest.raises((TypeError, ValueError), match=expected):
            call(gate)


def test_the_fields_of_a_policy_are_read_by_the_same_selectors():
    policy = Policy(compare=(".sku",), min_words=3)
    options = Options(compare=policy.compare)
    assert options == Options(compare={"": policy.compare}) == Options(compare=[("", (".sku",))])
    words = b" ".join(b"word%d" % number for number in range(60))
    html = b"<article><p>%s</p></article><p class=sku>%d</p>"
    pages = [read_page(html % (words, number), options=options) for number in (1, 2)]
    with closing(open_store("memory:")) as store:
        store.begin("run")
        gate = Gate(store, run="run", pipeline=pipeline_version())
        found = [gate.judge(page, policy, url=f"{URL}{n}") for n, page in enumerate(pages)]
    assert [verdict.outcome for verdict in found] == ["new", "near"]
    assert found[1].differs == "fields"


def test_a_page_that_could_not_be_read_is_an_error_and_passes():
    page = read_page(b"<p>A page", options=Options(extractor=f"{__name__}.Failing"))
    with closing(open_store("memory:")) as store:
        verdict = Gate(store, run="run", pipeline=pipeline_version()).judge(page, url=URL)
    assert (verdict.outcome, verdict.not_compared) == ("error", "unreadable")
    assert verdict.reason == "unreadable: KeyError: 'main'"
    assert not verdict.rejected


class Failing:
    def __call__(self, *_):
        raise KeyError("main")


def test_the_verdict_on_a_url_has_that_of_its_page():
    with closing(open_store("memory:")) as store:
        store.begin("run")
        gate = Gate(store, run="run", pipeline=pipeline_version())
        for url in (f"{URL}?utm_source=x", URL):
            assert gate.judge(PAGE, url=url).canonical_url == URL


def test_options_can_be_hashed_and_pickled():
    options = Options(extractor=READABILITY)
    assert hash(options) == hash(Options(extractor=READABILITY))
    assert pickle.loads(pickle.dumps(options)) == options


def test_another_extractor_makes_another_version():
    assert pipeline_version(Options(extractor=READABILITY)) != pipeline_version()
