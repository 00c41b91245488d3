"""The options of reading a page: what is allowed, and the version that they make."""

import pickle

import pytest

from simhash_gate.options import READABILITY, Options, pipeline_version


@pytest.mark.parametrize(("field", "value"), [("extractor", "no.such.Extractor"), ("extractor", 5)])
def test_a_wrong_option_names_itself_its_value_and_what_is_allowed(field, value):
    with pytest.raises(ValueError, match=rf"^{field}.*expected"):
        Options(**{field: value})


def test_options_can_be_hashed_and_pickled():
    options = Options(extractor=READABILITY)
    assert hash(options) == hash(Options(extractor=READABILITY))
    assert pickle.loads(pickle.dumps(options)) == options


def test_another_extractor_makes_another_version():
    assert pipeline_version(Options(extractor=READABILITY)) != pipeline_version()
