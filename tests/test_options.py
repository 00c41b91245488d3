"""The options of reading a page, and the version that they make; what the library refuses."""

import pickle
from contextlib import closing

import pytest

from simhash_gate import (
    Gate,
    HammingIndex,
    Policy,
    Visit,
    hamming_distance,
    open_store,
    read_page,
    simhash,
)
from simhash_gate.options import READABILITY, Options, pipeline_version

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
        (lambda gate: gate.judge(PAGE, url="https://a.example/", at="now"), "float: 'now'"),
        (lambda _: hamming_distance(1, None), "not an unsigned 64-bit fingerprint: None"),
        (lambda _: hamming_distance(PAGE, PAGE), r"fingerprint: Page\(title="),
        (lambda _: HammingIndex().insert("a"), "not an unsigned 64-bit fingerprint: 'a'"),
        (lambda _: HammingIndex("3"), "not a Hamming distance from 0 to 64: '3'"),
        (lambda _: HammingIndex(3, "x"), "not a number of blocks from 1 to 64: 'x'"),
        (lambda _: simhash("a b"), "expected strings, or a mapping .* not 'a b'"),
        (lambda _: simhash({1: 1.0}), "expected strings, or a mapping"),
        (lambda _: simhash({"a": float("nan")}), "finite weights"),
    ],
)
def test_an_error_of_the_caller_is_no_answer_and_says_what_is_expected(call, expected):
    with closing(open_store("memory:")) as store:
        gate = Gate(store, run="run", pipeline=pipeline_version())
        with pytest.raises((TypeError, ValueError), match=expected):
            call(gate)


def test_options_can_be_hashed_and_pickled():
    options = Options(extractor=READABILITY)
    assert hash(options) == hash(Options(extractor=READABILITY))
    assert pickle.loads(pickle.dumps(options)) == options


def test_another_extractor_makes_another_version():
    assert pipeline_version(Options(extractor=READABILITY)) != pipeline_version()
