"""The options of reading a page: what is allowed, and the version that they make."""

from __future__ import annotations

import pickle

import pytest

from simhash_gate.options import READABILITY, Options, pipeline_version


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("shingle", "sentence"),
        ("shingle", "word"),
        ("idf", "/no/such/table.json"),
        ("idf", {"word": -1.0}),
        ("idf", {"word": True}),
        ("idf", {"word": float("inf")}),
        ("idf", {"word": 10**400}),
        ("idf", {1: 2.0}),
        ("idf", ("a1",)),
        ("extractor", "no.such.Extractor"),
    ],
)
def test_a_wrong_option_names_itself_its_value_and_what_is_allowed(field, value):
    with pytest.raises(ValueError, match=rf"^{field}.*expected"):
        Options(**{field: value})


def test_options_can_be_hashed_and_pickled():
    options = Options(idf={"b": 2.0, "a": 1.0})
    assert hash(options) == hash(Options(idf={"a": 1.0, "b": 2.0}))
    assert pickle.loads(pickle.dumps(options)) == options


def test_every_option_makes_another_version():
    for options in (
        {"shingle": "word:3"},
        {"shingle": "char:5"},
        {"shingle": "word:4 char:5"},
        {"shingle": "word:3 char:4"},
        {"idf": {"moss": 3.0}},
        {"idf": {"the": 0}},
        {"extractor": READABILITY},
    ):
        assert pipeline_version(Options(**options)) != pipeline_version(), options
