"""The stores, and their servers, are there for the tests of every room."""

from __future__ import annotations

pytest_plugins = ["store_urls"]
