"""The audit against the truth of the demonstration site: small, and whole."""

from __future__ import annotations

from benchmarks.quality.audit import Outcome, crawl, main, report


def test_an_audit_of_all_duplicates_finds_the_wrong_drops_that_the_site_knows() -> None:
    outcome = crawl(1, articles=30, threshold=12, share=1.0)
    assert outcome.compared == outcome.drops > 60
    assert outcome.wrong_drops > 10
    assert abs(outcome.wrong - outcome.wrong_drops) <= 0.05 * outcome.drops
    assert outcome.holds


def test_the_command_says_how_many_intervals_hold_the_true_share(capsys) -> None:
    options = "--seeds 1 --articles 10 --share 1 --fields article_id,article_version,sku,price"
    assert main(options.split()) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "1 of 1 intervals hold the true share."
    assert printed[2].startswith("| 1 | ")


def test_an_interval_that_misses_is_said_to() -> None:
    outcome = Outcome(seed=7, drops=100, wrong_drops=50, compared=30, wrong=1, low=0.01, high=0.17)
    assert not outcome.holds
    assert report([outcome]).endswith("| 7 | 100 | 50 (50.0%) | 30 | 1 | 1.0% to 17.0% | no |")
