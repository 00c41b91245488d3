"""SIMHASH_GATE_* settings: defaults, every way to write them, every way to get them wrong."""

import pytest

from simhash_gate.gate.policy import Policy
from simhash_gate.settings import NAMES, read_settings
from simhash_gate.values import SettingsError


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("ENABLED", "False", False),
        ("ENABLED", "no", False),
        ("WORKERS", "0", 0),
        ("TTL", "2.5", 2.5),
        ("TTL", "2m", 120),
        ("REVALIDATE", "1", 0.05),
        ("REVALIDATE", "no", 0),
        ("REVALIDATE", "0.5", 0.5),
        ("THRESHOLD", "5", 5),
        ("TTL", "3600", 3600.0),
        ("TTL", "7d", 604_800.0),
        ("TTL", "None", None),
        ("VERIFY", "yes", True),
        ("VERIFY", "off", False),
    ],
)
def test_values_are_read_as_people_write_them_on_the_command_line(name, value, read) -> None:
    settings = read_settings({f"SIMHASH_GATE_{name}": value, "BOT_NAME": "x", "SIMHASH": 1})
    places = (settings, settings.options, settings.policies.default)
    assert [getattr(place, name.lower(), read) for place in places] == [read] * 3
    assert any(hasattr(place, name.lower()) for place in places)


def test_a_domain_has_what_is_set_for_all_and_its_own_values() -> None:
    domains = '{"example.com": {"threshold": 7}}'
    policies = read_settings({"SIMHASH_GATE_TTL": 9, "SIMHASH_GATE_DOMAINS": domains}).policies
    assert policies.site_of("https://a.example.com/").policy == Policy(threshold=7, ttl=9.0)


def test_a_domain_may_begin_with_a_dot_as_it_does_in_cookies() -> None:
    policies = read_settings({"SIMHASH_GATE_DOMAINS": {".example.com": {"threshold": 7}}}).policies
    for host in ("example.com", "www.example.com", "shop.example.com"):
        assert policies.site_of(f"https://{host}/").policy.threshold == 7
    assert policies.site_of("https://notexample.com/").policy.threshold == 3


DOMAINS = """
["example.com"]
threshold = 5
ttl = "7d"
[shop.example.com]
threshold = 1
[localhost]
"""


def test_domains_are_read_from_a_file(tmp_path) -> None:
    path = tmp_path / "domains.toml"
    path.write_text(DOMAINS)
    for named in (path, str(path)):
        policies = read_settings({"SIMHASH_GATE_DOMAINS": named}).policies
        assert policies.of_domains == {
            "example.com": Policy(threshold=5, ttl=604_800),
            "shop.example.com": Policy(threshold=1),
            "localhost": Policy(),
        }


def test_a_wrong_file_of_domains_is_named(tmp_path) -> None:
    path = tmp_path / "domains.toml"
    for text, said in (
        (None, "domains.toml: No such file"),
        ("[example", "not TOML"),
        ('["example.com"]\ntreshold = 1', r"DOMAINS\['example.com'\]: unknown key 'treshold'"),
        ("threshold = 1", r"DOMAINS\['threshold'\] = 1: expected a mapping"),
    ):
        if text:
            path.write_text(text)
        with pytest.raises(SettingsError, match=said):
            read_settings({"SIMHASH_GATE_DOMAINS": str(path)})


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("THRESHOLD", 65, "from 0 to 64"),
        ("ENABLED", "perhaps", "True or False"),
        ("STORE", "mysql://x", "use memory:, sqlite:///relative/path"),
        ("STORE", 5, "use memory:"),
        ("SCOPE", "site", "'domain', 'host', 'crawl'"),
        ("MAX_BYTES", 0, "a whole number at least 1"),
        ("TTL", 0, "seconds above 0"),
        ("TTL", "7w", "a time such as '12h' or '7d'"),
        ("VERIFY", "maybe", "True or False"),
        ("KEEP_MARKDOWN", 512, "bytes, a whole number at least 1048576, or 0 for none"),
        ("REVALIDATE", 2, "True, False, or the share"),
        ("TRACKING", ["*"], "one may end in *, not be it"),
        ("TRACKING", ["ref", "*_id"], "one may end in *, not be it"),
        ("DOMAINS", {5: {"threshold": 3}}, "mapping of domain names"),
    ],
)
def test_a_bad_value_names_the_setting_the_value_and_what_is_allowed(name, value, allowed) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({f"SIMHASH_GATE_{name}": value})
    message = str(caught.value)
    assert f"SIMHASH_GATE_{name}" in message
    assert str(value) in message
    assert allowed in message


def test_a_domain_that_can_match_no_host_is_refused() -> None:
    wrong = "http://y.com z.com:8080 *.x.com bücher.de x.com/path . x..com"
    for domain in ("", *wrong.split()):
        with pytest.raises(SettingsError, match="expected the name of a domain or host"):
            read_settings({"SIMHASH_GATE_DOMAINS": {domain: {"threshold": 1}}})
    for domain in ("www.example.com", "127.0.0.1", "::1", "localhost"):
        read_settings({"SIMHASH_GATE_DOMAINS": {domain: {"window": 5}}})


def test_a_subdomain_has_no_window_of_its_own_where_its_domain_is_one_scope() -> None:
    domains = {"shop.example.com": {"window": 100}}
    with pytest.raises(SettingsError, match="share one memory with others"):
        read_settings({"SIMHASH_GATE_DOMAINS": domains})
    read_settings({"SIMHASH_GATE_DOMAINS": domains, "SIMHASH_GATE_SCOPE": "host"})


def test_an_unknown_setting_names_the_one_that_may_be_meant_or_all_that_are_known() -> None:
    meant = r"SIMHASH_GATE_TRESHOLD is not a setting; did you mean SIMHASH_GATE_THRESHOLD\?"
    with pytest.raises(SettingsError, match=meant):
        read_settings({"SIMHASH_GATE_TRESHOLD": 3})
    for name in ("simhash_gate_threshold", "SIMHASHGATE_THRESHOLD", "SIMHASH_GATETHRESHOLD"):
        with pytest.raises(SettingsError, match=rf"{name} is .*mean SIMHASH_GATE_THRESHOLD\?"):
            read_settings({name: 3})
    with pytest.raises(SettingsError, match="SIMHASH_GATE_7 is not a setting; known are") as caught:
        read_settings({"SIMHASH_GATE_7": 3})
    assert all(name in str(caught.value) for name in NAMES)


def test_a_long_value_is_cut_in_a_message_and_what_is_expected_is_not() -> None:
    with pytest.raises(SettingsError, match=r"THRESHOLD = 'x+ … x+'.*expected") as raised:
        read_settings({"SIMHASH_GATE_THRESHOLD": "x" * 100_000})
    assert len(str(raised.value)) < 1_100
