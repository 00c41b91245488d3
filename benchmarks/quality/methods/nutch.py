"""Apache Nutch's text profile, written anew from its documentation, for this comparison only.

`TextProfileSignature`, as its class documentation describes it
(https://nutch.apache.org/apidocs/apidocs-2.0/org/apache/nutch/crawl/TextProfileSignature.html):
letters and digits, in lower case; tokens of up to MIN_TOKEN_LEN (2) characters discarded;
frequencies rounded down to a multiple of QUANT = QUANT_RATE (0.01) * the highest frequency, at
least 2 when a token comes more than once; tokens below QUANT discarded; MD5 of tokens and
frequencies, most frequent first; without text, MD5 of the content.
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import md5

from benchmarks.quality.methods.base import Method
from benchmarks.quality.text import page_text

_TOKEN = re.compile(r"[^\W_]+")
_LONGER_THAN = 2
_QUANT_RATE = 0.01


class TextProfile(Method):
    """The profile of all text in the body, as Nutch's HTML parser gives it."""

    title = "Nutch's TextProfileSignature"

    def fingerprint(self, body: bytes, url: str) -> bytes:
        return md5(profile(page_text(body)).encode("utf-8", "replace") or body).digest()


def profile(text: str) -> str:
    """Return the tokens that remain, and their quantised frequencies."""
    tokens = (token for token in _TOKEN.findall(text.lower()) if len(token) > _LONGER_THAN)
    counts = Counter(tokens)
    most = max(counts.values(), default=0)
    quant = max(round(_QUANT_RATE * most), 2 if most > 1 else 1)
    kept = {token: count // quant * quant for token, count in counts.items() if count >= quant}
    ranking = sorted(kept.items(), key=lambda item: (-item[1], item[0]))
    return "\n".join(f"{token} {count}" for token, count in ranking)
