"""What a request may set for itself."""

import pytest
from scrapy import Request

from simhash_gate.plugin.crawl_settings import overridden
from simhash_gate.settings import read_settings
from simhash_gate.values import SettingsError

SETTINGS = read_settings({"SIMHASH_GATE_THRESHOLD": 2})


def of_request(meta: object):
    request = Request("https://example.com/", meta={"simhash_gate": meta})
    return overridden(SETTINGS.policies.default, request, SETTINGS, links=False)


def test_a_request_sets_its_own_threshold():
    assert of_request({"threshold": 5}).threshold == 5
    assert of_request(True).threshold == 2


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        # What a scope or a domain shares.
        ({"window": 5}, r"\['window'\]: can't be set for one request"),
        ({"ttl": 60}, r"\['ttl'\]: can't be set for one request"),
        ({"compare": [".sku"]}, r"\['compare'\]: can't be set for one request"),
        # What the crawl is not made for.
        ({"action": "links"}, "links"),
    ],
)
def test_what_can_not_be_set_for_one_request_is_refused(wanted: dict, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        of_request(wanted)
