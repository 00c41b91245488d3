"""The options of reading a page: what is allowed, and the version that they make."""

from __future__ import annotations

import pickle

import pytest

from simhash_gate.options import READABILITY, Options, pipeline_version


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("shingle", "sentence"),
        ("shingle_size", "3"),
        ("idf", "/no/such/table.json"),
        ("idf", {"word": -1.0}),
        ("idf", {"word": True}),
        ("idf", {"word": float("inf")}),
        ("idf", {"word": 10**400}),
        ("idf", {1: 2.0}),
        ("idf", ("a1",)),
        ("stop_words", "/no/such/list.txt"),
        ("stop_words", (1, 2)),
        ("extractor", "no.such.Extractor"),
    ],
)
def test_a_wrong_option_names_itself_its_value_and_what_is_allowed(field, value):
    with pytest.raises(ValueError, match=rf"^{field} = .*expected"):
        Options(**{field: value})


def test_options_can_be_hashed_and_pickled():
    options = Options(idf={"b": 2.0, "a": 1.0}, stop_words=["the"])
    assert hash(options) == hash(Options(idf={"a": 1.0, "b": 2.0}, stop_words=("the",)))
    assert pickle.loads(pickle.dumps(options)) == options


def test_every_option_makes_another_version():
    for options in (
        {"shingle": "word"},
        {"shingle": "char"},
        {"shingle_size": 4},
        {"char_shingle_size": 4},
        {"idf": {"moss": 3.0}},
        {"stop_words": ("the",)},
        {"extractor": READABILITY},
    ):
        assert pipeline_version(Options(**options)) != pipeline_version(), options
