"""The charts as SVG, drawn by Vega-Lite. Their colours follow those of the page, dark or light.

They show numbers and outcomes, and no text of a page.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simhash_gate.report.bounded import Bucket

SHOWN = ("new", "kept", "near", "updated", "rewritten", "duplicate", "unchanged", "error")
"""The outcomes of pages, in the order in which they are stacked."""

# A wide chart would be too small to read on a phone.
SIZES = {"wide": (560, 220), "narrow": (270, 180)}
LEAST_BITS = 8

_UP: dict[str, Any] = {
    **{"field": "pages", "type": "quantitative", "title": None, "scale": {"domainMin": 0}},
    "axis": {"tickCount": 5, "format": ",~f", "tickMinStep": 1},
}
_CLOCK = {
    **{"year": "%Y", "month": "%b %Y", "week": "%-d %b", "date": "%-d %b", "day": "%-d %b"},
    **{"hours": "%H:%M", "minutes": "%H:%M", "seconds": "%H:%M:%S", "milliseconds": "%H:%M:%S"},
}
_INK, _LINE = "var(--ink)", "var(--line)"
_CONFIG: dict[str, Any] = {
    "aria": False,  # the page gives the chart its name, and the figures as a table
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        **{"labelColor": _INK, "titleColor": _INK, "titleFontWeight": "normal"},
        **{"labelFontSize": 12, "titleFontSize": 12},
        **{"domainColor": _LINE, "tickColor": _LINE, "gridColor": _LINE},
    },
    "legend": {
        **{"orient": "top", "title": None, "labelColor": _INK, "labelFontSize": 12},
        **{"symbolType": "square", "columns": 3},
    },
}


class Bar(NamedTuple):
    """A bar from `start` to `end` of the axis."""

    start: float
    end: float
    outcomes: Counter[str]


def distances(counts: Counter[tuple[int, str]], threshold: int | None) -> dict[str, str]:
    """Return an SVG for each of `SIZES`: pages by their distance to the nearest kept page."""
    by_bits: dict[int, Counter[str]] = {}
    for (bits, outcome), pages in counts.items():
        by_bits.setdefault(bits, Counter())[outcome] += pages
    end = max(LEAST_BITS, *by_bits)
    step = 1 if end <= 16 else 4
    across = {
        "type": "quantitative",
        "title": "bits apart",
        "scale": {"domain": [-0.5, end + 0.5], "nice": False},
        "axis": {"grid": False, "format": "d", "values": [*range(0, end + 1, step)]},
    }
    sums = [
        {"at": bits, "pages": outcomes.total(), "text": _short(outcomes.total())}
        for bits, outcomes in by_bits.items()
    ]
    layers = [
        _bars([Bar(bits - 0.45, bits + 0.45, by_bits[bits]) for bits in by_bits], across),
        {
            "data": {"values": sums},
            "mark": {"type": "text", "dy": -7, "color": _INK, "fontSize": 11},
            "encoding": {"x": across | {"field": "at"}, "y": _UP, "text": {"field": "text"}},
        },
    ]
    if threshold is not None and threshold < end:
        layers.append(
            {
                "data": {"values": [{"at": threshold + 0.5}]},
                "mark": {"type": "rule", "strokeDash": [5, 4], "strokeWidth": 2, "color": _INK},
                "encoding": {"x": across | {"field": "at"}},
            }
        )
    return _draw(layers)


def timeline(buckets: Iterable[Bucket], *, by_time: bool) -> dict[str, str]:
    """Return an SVG for each of `SIZES`: outcomes by time (UTC), or by the order of pages."""
    unit = 1_000 if by_time else 1  # Vega's times are milliseconds
    axis: dict[str, Any] = {"grid": False, "labelOverlap": True, "tickCount": 6}
    across: dict[str, Any]
    if by_time:
        axis["format"] = _CLOCK
        across = {"type": "temporal", "scale": {"type": "utc"}, "title": "time (UTC)"}
    else:
        across = {"type": "quantitative", "title": "pages, in the order they were read"}
    across["axis"] = axis
    bars = [Bar(b.start * unit, b.end * unit, b.outcomes) for b in buckets]
    return _draw([_bars(bars, across)])


def _bars(bars: Sequence[Bar], across: dict[str, Any]) -> dict[str, Any]:
    """Return a layer of bars, in which outcomes are stacked."""
    there = [name for name in SHOWN if any(bar.outcomes[name] for bar in bars)]
    return {
        "data": {"values": [part for bar in bars for part in _stacked(bar)]},
        "mark": "rect",
        "encoding": {
            "x": across | {"field": "from"},
            "x2": {"field": "to"},
            "y": _UP,
            "y2": {"field": "under"},
            "color": {
                "field": "outcome",
                "type": "nominal",
                "scale": {"domain": there, "range": [f"var(--{name})" for name in there]},
            },
        },
    }


def _stacked(bar: Bar) -> Iterator[dict[str, Any]]:
    height = 0
    for outcome in SHOWN:
        if pages := bar.outcomes[outcome]:
            under, height = height, height + pages
            yield {
                **{"from": bar.start, "to": bar.end, "outcome": outcome},
                **{"under": under, "pages": height},
            }


def _short(number: int) -> str:
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.{0 if number >= 10 * size else 1}f}{unit}"
    return str(number)


def _draw(layers: list[dict[str, Any]]) -> dict[str, str]:
    import vl_convert

    return {
        size: vl_convert.vegalite_to_svg(
            {"width": width, "height": height, "layer": layers, "config": _CONFIG},
            allowed_base_urls=[],
        )
        for size, (width, height) in SIZES.items()
    }
