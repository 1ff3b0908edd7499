"""What keeps the page small, whatever the topic."""

from __future__ import annotations

BUCKETS = 500
"""At most so many of one partition."""
ALL_BUCKETS = 16_000
"""At most so many of all partitions: a bucket is some 80 bytes of the page."""
DRAWN = 64
"""At most so many partitions are drawn, those that findings name first."""
LISTED = 500
"""At most so many partitions stand in the table."""
MARKS = 200
"""At most so many marked places of one sort in one partition."""
LONGEST_EVENT = 2_000
"""Characters of one event on the page."""


def cut(text: str) -> str:
    """A text of a bounded length."""
    return text if len(text) <= LONGEST_EVENT else f"{text[:LONGEST_EVENT]}… ({len(text):,} characters)"
