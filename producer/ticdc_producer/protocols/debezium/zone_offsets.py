"""Converts columns of wall times to UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

import numpy as np

from ticdc_producer.protocols.arrow_text import Numbers

_STEP = 900
"""Length in seconds of the spans per which an offset is looked up. Most zones change theirs between two
spans."""


def to_utc(walls: Numbers, zone: tzinfo) -> Numbers:
    """Convert wall times to UTC, both in seconds since 1970.

    A wall time that occurs twice or never becomes the instant that Go's ``time.Date`` returns.
    """
    return walls - _offsets(walls - _offsets(walls, zone), zone)


def _offsets(instants: Numbers, zone: tzinfo) -> Numbers:
    spans, inverse = np.unique(instants // _STEP, return_inverse=True)
    known = [_offset_of_span(span, zone) for span in spans.tolist()]
    if None not in known:
        return np.array(known, np.int64)[inverse]
    each = zip(instants.tolist(), inverse.tolist(), strict=True)
    found = (
        known[span_index] if known[span_index] is not None else _offset(instant, zone)
        for instant, span_index in each
    )
    return np.fromiter(found, np.int64, len(instants))


@lru_cache(maxsize=1 << 16)
def _offset_of_span(span: int, zone: tzinfo) -> int | None:
    """The offset during a span; None if it changes within the span."""
    first, last = (_offset(instant, zone) for instant in (span * _STEP, span * _STEP + _STEP - 1))
    return first if first == last else None


def _offset(instant: int, zone: tzinfo) -> int:
    moment = datetime.fromtimestamp(instant, UTC)
    return (moment.astimezone(zone).utcoffset() or timedelta()) // timedelta(seconds=1)
