"""Parameters that seldom matter anywhere, as a first guess: a site's own pages decide."""

from __future__ import annotations

import re
from functools import lru_cache

from simhash_gate.urls.rules import ANY_VALUE, Rule, without_alias

TRACKING = re.compile(
    r"(?:utm_\w+|mtm_\w+|pk_\w+|piwik_\w+|matomo_\w+|hsa_\w+|__hs\w+|_hs\w+|mc_[ce]id|mkt_tok"
    r"|(?:fb|g|dc|ms|tw|y|tt|wick|li_fat_|ttcl|gb|wb|s_kwc|ir)cl(?:id|src)|li_fat_id|igshid?|gbraid"
    r"|wbraid|fbclid|gclid|srsltid|_ga|_gl|ref_?src|trk|sc_cid|vero_id|spm|campaignid|adgroupid)\Z",
    re.IGNORECASE,
)
"""Query parameters that are added to links to count where visitors come from."""

SESSION = re.compile(
    r"(?:phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken|sid|session_?id|sessid|oscsid|zenid"
    r"|xtcsid|s_?id|osessionid)\Z",
    re.IGNORECASE,
)
"""Parameters, of the query or the path, that name a visitor's session."""

OTHER_VIEW = re.compile(r"(?:print(?:able|er|view|_?version)?|amp|mobile|m|wap)\Z", re.IGNORECASE)
"""Parts of a path and parameters that ask for the same text in another form."""
LONGEST_VIEW = 13
"""Letters that these have at most."""


def is_known(rule: Rule) -> bool:
    """Tell whether a rule seldom fails on any site."""
    if rule.kind == "parameter":
        if TRACKING.match(rule.name) or SESSION.match(rule.name):
            return True
        return rule.value != ANY_VALUE and OTHER_VIEW.match(rule.name) is not None
    if rule.kind == "path parameter":
        return SESSION.match(rule.name) is not None
    if rule.kind == "segment":
        return OTHER_VIEW.match(rule.name) is not None
    if rule.kind == "host":
        return without_alias(rule.name) == rule.value
    return rule.kind in ("scheme", "index", "path")


_PARAMETER = re.compile(r"([?&;])([^=&;?\n]+)=[^&;\n]*")


def without_visitor(urls: str) -> str:
    """Return URLs, a line each, without the parameters that tell of sessions and of campaigns."""
    return _PARAMETER.sub(_unless_of_visitor, urls) if "=" in urls else urls


def _unless_of_visitor(found: re.Match[str]) -> str:
    return "" if _is_of_visitor(found[2]) else found[0]


@lru_cache(maxsize=1024)
def _is_of_visitor(name: str) -> bool:
    return SESSION.match(name) is not None or TRACKING.match(name) is not None
