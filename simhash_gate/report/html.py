"""A summary as one HTML file, which needs no network and no script of others."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from simhash_gate.common.wording import how_many, need
from simhash_gate.report.bounded import COPIES
from simhash_gate.report.doubt import ORDER, difference
from simhash_gate.report.findings import findings, notes
from simhash_gate.report.judged import LOGGED, LONGEST_URL
from simhash_gate.report.pairs import Texts, of_other_offers, side_by_side
from simhash_gate.report.summary import OTHERS, Summary

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

MOST_DOMAINS = 1_000
MOST_CLUSTERS = 50
MOST_REASONS_SHOWN = 50
SHOWN = [outcome for outcome in LOGGED if outcome != "skipped"]
HERE = Path(__file__).parent
# What would change how the rest of a text is read, or is no character.
_UNSAFE = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# "#" marks columns of numbers; "*" stands for the outcomes that a report counts.
TABLES = {
    "settings": "Pages of|Settings that are not the default",
    "distances": "#Bits apart|#Pages|*|#Another name",
    "timeline": "From (UTC)|#Pages|*",
    "domains": "Domain|#Judged|*|#Skipped|#Dropped|#% dropped|#Saved|#Another name",
    "fleet": "Crawler|#Responses|#Skipped|#Judged|#Delivered|#Dropped|#Held back|#Like its own|"
    "#Like another's|#Like an earlier|#Errors|Log",
    "near": "Page|Nearest kept page|#Bits|#Words|#Words of the kept page|Why it passed",
    "changed": "Page|What has changed|Outcome|When (UTC)",
    "copies": "Copy|#Bits|#Words|What differs",
    "unjudged": "Outcome|Why|#Pages",
}
"""The columns of each table."""


def _tables(shown: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns of each table; `shown` are the outcomes that it counts."""
    outcomes = "|".join(f"#{outcome.capitalize()}" for outcome in shown)
    return {
        table: [column for column in columns.replace("*", outcomes).split("|") if column]
        for table, columns in TABLES.items()
    }


def _labels(of: Mapping[str, Sequence[str]]) -> str:
    """Return the style by which a cell says the name of its column, where rows are cards."""
    rules = (
        f'.t-{table} td:nth-child({place})::before {{ content: "{column.lstrip("#")}"; }}'
        for table, columns in of.items()
        for place, column in enumerate(columns, 1)
    )
    return "@media (max-width: 40rem) {\n" + "\n".join(rules) + "\n}\n"


def check_installed() -> None:
    """Raise `MissingExtraError` where the package that reports need can't be imported."""
    need("jinja2", "a report", "report")


def render(summary: Summary, *, name: str, texts: Texts | None = None) -> bytes:
    """Return the report as HTML in UTF-8. `name` is that of the spider or file in its title.

    `texts` is asked once for the texts of the doubtful duplicates and their kept pages. Raises
    `MissingExtraError`.
    """
    check_installed()
    from markupsafe import Markup

    figures = _figures(summary)
    pairs = side_by_side(summary.duplicates.ranked(), texts)
    style, script = ((HERE / name).read_text("utf-8") for name in ("report.css", "report.js"))
    style += "".join(f".{o} {{ background: var(--{o}); fill: var(--{o}); }}\n" for o in SHOWN)
    style += _labels(figures["tables"])
    page = _template().render(
        name=name,
        summary=summary,
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        made=time.time(),
        copies=COPIES,
        order=ORDER,
        findings=findings(summary, of_other_offers(pairs)),
        notes=notes(summary),
        pairs=pairs,
        asked=texts is not None,
        **figures,
    )
    return page.encode("utf-8", "replace")  # a lone surrogate is no character


@cache
def _template() -> Template:
    """Compile the template: once, since that takes longer than to fill it in."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "code": _code,
        "count": "{:,}".format,
        "how_many": how_many,
        "safe_text": partial(_UNSAFE.sub, "\ufffd"),
        "share": lambda part, whole: f"{100 * part / whole:.1f} %" if whole else "–",
        "utc": lambda time: f"{datetime.fromtimestamp(time, timezone.utc):%Y-%m-%d %H:%M:%S}",
    }
    environment.tests["web"] = _is_web
    environment.globals["difference"] = difference
    return environment.get_template("report.html.jinja")


def _figures(summary: Summary) -> dict[str, Any]:
    buckets = summary.timeline.buckets()
    threshold = max(summary.thresholds, key=lambda t: (summary.thresholds[t], -t), default=None)
    shown = [outcome for outcome in SHOWN if summary.total.outcomes[outcome]]
    distances = sorted(summary.distances.items())
    return {
        "distances": distances,
        "most_apart": max((pages.total() for _, pages in distances), default=0),
        "most_at_once": max((bucket.outcomes.total() for bucket in buckets), default=0),
        "last_within": max((n for n, _ in distances if n <= (threshold or 0)), default=None),
        "shown": shown,
        "tables": _tables(shown),
        "threshold": threshold,
        "buckets": buckets,
        "domains": sorted(
            summary.domains.items(), key=lambda it: (it[0] == OTHERS, -it[1].outcomes.total())
        )[:MOST_DOMAINS],
        "clusters": summary.clusters.largest(MOST_CLUSTERS),
        "near": summary.near.ranked(),
        "changed": summary.changed.ranked(),
        "reasons": [(*why, n) for why, n in summary.reasons.most_common(MOST_REASONS_SHOWN)],
    }


def _is_web(url: str) -> bool:
    """Tell whether a link may lead to a URL: only http and https, and no URL that was cut."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and len(url) <= LONGEST_URL


def _code(text: str) -> Markup:
    """Return a text in which what stands between backticks is code."""
    from markupsafe import Markup, escape

    parts = [escape(part) for part in text.split("`")]
    parts[1::2] = map(Markup("<code>{}</code>").format, parts[1::2])
    return Markup("").join(parts)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
