"""A URL taken apart, in the form that all URLs of one request have. Names that seldom matter."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from w3lib.url import canonicalize_url

_INDEX = re.compile(r"(?:index|default)(?:\.\w{2,5})?\Z", re.IGNORECASE)
_MOST_PARTS = 100  # of a path, and of a query; the rest becomes one part
_PORTS = {"http": ":80", "https": ":443"}
_UNREADABLE = "(unreadable)"


class Address(NamedTuple):
    """The parts of a URL in the form that all URLs of one request have.

    `extra` are the sorted parameters in the path (`;name=value`), `slash` whether it ends in one.
    """

    scheme: str
    host: str
    path: tuple[str, ...]
    extra: tuple[str, ...] = ()
    slash: bool = False
    query: tuple[tuple[str, str], ...] = ()

    @property
    def bare_path(self) -> tuple[str, ...]:
        """The path without an index page at its end."""
        has_index = self.path and _INDEX.match(self.path[-1])
        return self.path[:-1] if has_index else self.path

    @property
    def url(self) -> str:
        """The URL."""
        path = "/".join(("", *self.path)) + "".join(f";{pair}" for pair in self.extra)
        path += "/" if self.slash or not path else ""
        query = "&".join(f"{name}={value}" for name, value in self.query)
        return f"{self.scheme}://{self.host}{path}{'?' if query else ''}{query}"


@lru_cache(maxsize=4_096)
def address_of(url: str) -> Address:
    """Return the address of a URL. A URL that can't be read becomes an address of its own."""
    try:
        parts = urlsplit(canonicalize_url(url))
    except ValueError:
        return Address("", _UNREADABLE, (url,))
    segments = parts.path.split("/", _MOST_PARTS)[1:]
    slash = bool(segments) and not segments[-1]
    if slash:
        segments.pop()
    extra: tuple[str, ...] = ()
    if ";" in parts.path:
        extra = tuple(sorted(pair for part in segments for pair in part.split(";")[1:] if pair))
        segments = [part.partition(";")[0] for part in segments]
    query = [pair.partition("=")[::2] for pair in parts.query.split("&", _MOST_PARTS) if pair]
    host = parts.netloc.lower().rpartition("@")[2].removesuffix(_PORTS.get(parts.scheme, "@"))
    return Address(parts.scheme, host, tuple(segments), extra, slash, tuple(query))


TRACKING = frozenset(
    """
    utm_* mtm_* pk_* piwik_* matomo_* hsa_* __hs* _hs* at_* wt.mc_* mc_cid mc_eid mkt_tok fbclid
    gclid gclsrc dclid msclkid twclid yclid ysclid ttclid wickedid li_fat_id igshid igsh gbraid
    wbraid srsltid _ga _gl _ke _openstat s_cid sc_cid sc_campaign s_kwcid irclickid irgwc vero_id
    vero_conv oly_anon_id oly_enc_id rb_clickid guce_referrer ml_subscriber* elqtrack elqtrackid
    elqaid elqat ef_id epik zanpid tduid cvid cmpid campaignid adgroupid gad_source gad_campaignid
    bsft_clkid bsft_uid dm_i trk_contact trk_msg trk_module trk_sid mkwid pcrid fb_action_ids
    fb_action_types fb_source ref_src spm trk refsrc xtor yadclid yadordid ymclid utm guccounter
    """.split()
)
"""Query parameters that count where visitors come from. `*` stands for any end.

They are no part of a page's key. Each was met on many sites that have nothing else in common.
"""

SESSION = re.compile(
    r"(?:phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken|sid|session_?id|sessid|oscsid|zenid"
    r"|xtcsid|s_?id|osessionid)\Z",
    re.IGNORECASE,
)
"""Parameters of the query or the path that name a visitor's session on most sites."""

_SESSION_PART = re.compile(r"\((?:\w\(\w{16,}\))+\)\Z")
"""A part of a path that is a session of ASP.NET, such as `(S(lit3py55t21z5v55vlm))`."""

_SESSION_VALUE = re.compile(r"[\w,.!~%-]{16,}\Z")
_PARAMETER = re.compile(r"([?&;])([^=&;?\n]+)=[^&;\n]*")


def _is_session(name: str, value: str) -> bool:
    """Tell whether a parameter is a session, by its name and 16 characters: `sid=123` is none."""
    return SESSION.match(name) is not None and _SESSION_VALUE.match(value) is not None


def without_sessions(address: Address) -> Address:
    """Return an address without what surely names a visitor's session."""
    return address._replace(
        path=tuple(part for part in address.path if not _SESSION_PART.match(part)),
        extra=tuple(pair for pair in address.extra if not _is_session(*pair.partition("=")[::2])),
        query=tuple(pair for pair in address.query if not _is_session(*pair)),
    )


@lru_cache(maxsize=4_096)
def is_one_of(names: frozenset[str], name: str) -> bool:
    """Tell whether a name is one of `names`, in any case. `*` ends a name that may go on."""
    return _pattern_of(names).match(name) is not None


@lru_cache(maxsize=16)
def _pattern_of(names: frozenset[str]) -> re.Pattern[str]:
    alternatives = "|".join(
        re.escape(name.removesuffix("*")) + (r"[\w.]*" if name.endswith("*") else "")
        for name in sorted(names)
    )
    return re.compile(rf"(?:{alternatives})\Z", re.IGNORECASE)


def without_visitor(urls: str) -> str:
    """Return URLs, a line each, without the parameters of sessions and of campaigns."""

    def kept(match: re.Match[str]) -> str:
        return "" if SESSION.match(match[2]) or is_one_of(TRACKING, match[2]) else match[0]

    return _PARAMETER.sub(kept, urls) if "=" in urls else urls
