"""Wrong settings stop a crawl before it starts, and its log says which, and what is allowed."""

import pytest

from tests.crawls.harness import WITHOUT_ADDON, crawl, page

WRONG = "SIMHASH_GATE_THRESHOLD = 'three': expected a whole number from 0 to 64"
SPIDERS_ALONE = {
    "ADDONS": "{}",
    "SPIDER_MIDDLEWARES": '{"simhash_gate.SimhashGateInnerSpiderMiddleware": 10000}',
}


@pytest.mark.parametrize(
    ("name", "value", "more", "said"),
    [
        ("THRESHOLD", "three", {}, WRONG),
        ("THRESHOLD", "three", {"FORCE_CRAWLER_PROCESS": "True"}, WRONG),
        ("THRESHOLD", "three", WITHOUT_ADDON, WRONG),
        ("THRESHOLD", "three", SPIDERS_ALONE, WRONG),
        ("TRESHOLD", "3", {}, "did you mean SIMHASH_GATE_THRESHOLD?"),
        ("REPORT", "%(day)s.html", {}, "expected the path of a file"),
        ("REPORT", "report.html", {}, "pip install 'simhash-gate[report]'"),
        ("JOURNAL", "journal", {}, "needs fastwarc: pip install 'simhash-gate[warc]'"),
        ("COMPARE", '["p:unknown"]', {}, "'p:unknown' is no CSS selector"),
        ("KEEP_MARKDOWN", "100", {}, "0 for none"),
        ("DURABLE", "page", WITHOUT_ADDON, "needs all middlewares"),
        ("LISTENERS", "nowhere.Own", {}, "nowhere.Own: No module named 'nowhere'"),
        ("LISTENERS", "json.JSONDecoder", {}, "json.JSONDecoder is no simhash_gate.Listener"),
        ("ACTION", "links", WITHOUT_ADDON, "needs all middlewares"),
        ("REVISIT", "links", WITHOUT_ADDON, "needs all middlewares"),
        ("REVALIDATE", "True", WITHOUT_ADDON, "needs all middlewares"),
    ],
)
def test_a_crawl_does_not_start_and_its_log_ends_with_what_is_wrong(
    tmp_path, name, value, more, said
) -> None:
    for module in ("jinja2", "fastwarc"):
        (tmp_path / f"{module}.py").write_text("raise ImportError")
    settings = {"LOG_LEVEL": "WARNING", f"SIMHASH_GATE_{name}": value, **more}
    result = crawl(tmp_path, {"/a": page(1)}, settings=settings)
    assert result.status == 1
    (told,) = result.log.splitlines()
    assert f" ERROR: The crawl does not start. SIMHASH_GATE_{name}" in told
    assert said in told
    assert not result.site.hits
