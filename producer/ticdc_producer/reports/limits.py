"""Limits that keep the HTML page small for topics of any size."""

from __future__ import annotations

BUCKETS = 500
"""Maximum number of buckets of one partition."""
ALL_BUCKETS = 16_000
"""Maximum number of buckets of all partitions; a bucket takes about 80 bytes of the page."""
DRAWN = 64
"""Maximum number of partitions with a chart; partitions that findings name come first."""
LISTED = 500
"""Maximum number of partitions in the table."""
MARKS = 200
"""Maximum number of marks of one role in one partition."""
LONGEST_EVENT = 2_000
"""Maximum number of characters of one event on the page."""


def cut(text: str) -> str:
    """The text, shortened to ``LONGEST_EVENT`` characters."""
    return text if len(text) <= LONGEST_EVENT else f"{text[:LONGEST_EVENT]}… ({len(text):,} characters)"
