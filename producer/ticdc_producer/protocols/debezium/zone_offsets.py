"""Wall times of whole columns to UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

import numpy as np

from ticdc_producer.protocols.arrow_text import Numbers

_STEP = 900
"""Seconds for which an offset is looked up once; most zones change theirs between two of these spans."""


def to_utc(walls: Numbers, zone: tzinfo) -> Numbers:
    """Instants of wall times, both as seconds since 1970.

    Of a wall time that occurs twice or never it is the instant that Go's ``time.Date`` takes.
    """
    return walls - _offsets(walls - _offsets(walls, zone), zone)


def _offsets(instants: Numbers, zone: tzinfo) -> Numbers:
    spans, back = np.unique(instants // _STEP, return_inverse=True)
    known = [_offset_of_span(span, zone) for span in spans.tolist()]
    if None not in known:
        return np.array(known, np.int64)[back]
    each = zip(instants.tolist(), back.tolist(), strict=True)
    found = (known[place] if known[place] is not None else _offset(instant, zone) for instant, place in each)
    return np.fromiter(found, np.int64, len(instants))


@lru_cache(maxsize=1 << 16)
def _offset_of_span(span: int, zone: tzinfo) -> int | None:
    """None if it changes in between."""
    first, last = (_offset(instant, zone) for instant in (span * _STEP, span * _STEP + _STEP - 1))
    return first if first == last else None


def _offset(instant: int, zone: tzinfo) -> int:
    moment = datetime.fromtimestamp(instant, UTC)
    return (moment.astimezone(zone).utcoffset() or timedelta()) // timedelta(seconds=1)
