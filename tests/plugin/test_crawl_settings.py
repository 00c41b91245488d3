"""What a request may set for itself."""

from __future__ import annotations

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


@pytest.mark.parametrize(("name", "value"), [("window", 5), ("ttl", 60), ("compare", [".sku"])])
def test_what_a_scope_or_a_domain_shares_is_not_set_for_one_request(name, value):
    with pytest.raises(SettingsError, match=rf"\['{name}'\]: can't be set for one request"):
        of_request({name: value})


@pytest.mark.parametrize("wanted", [{"action": "links"}, {"verify": "text"}, {"audit": 0.5}])
def test_what_the_crawl_is_not_made_for_is_refused(wanted):
    with pytest.raises(SettingsError):
        of_request(wanted)
