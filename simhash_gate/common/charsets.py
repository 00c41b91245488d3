"""The label of an encoding in an HTTP header. Browsers know more labels than Python."""

from __future__ import annotations

import re

_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s;"']+)""", re.I)


def charset_in(content_type: str) -> str | None:
    """Return the label of the encoding in a `Content-Type` as it is written, None without one."""
    match = _CHARSET.search(content_type)
    return match[1] if match else None
