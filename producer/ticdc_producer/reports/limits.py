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
LONGEST_SOURCE = 20_000
"""Maximum number of characters of the scenario's text on the page."""


def cut(text: str, most: int = LONGEST_EVENT) -> str:
    """The text, shortened to ``most`` characters."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
