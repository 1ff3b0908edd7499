"""TiDB's TSO (timestamp oracle): ``ts = physical_ms << 18 | logical``, 64 bits, unsigned.

Source of the rule: client-go ``oracle``. The physical part is Unix time in milliseconds on the PD leader.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

LOGICAL_BITS = 18
MAX_LOGICAL = (1 << LOGICAL_BITS) - 1
MAX_TS = (1 << 63) - 1  # consumers store it in a signed 64-bit integer

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def compose(physical_ms: int, logical: int = 0) -> int:
    """Compose a TSO from Unix milliseconds and a logical counter.

    :raises ValueError: if either part is out of range.
    """
    if not 0 <= logical <= MAX_LOGICAL:
        raise ValueError(f"logical part {logical} is outside 0 … {MAX_LOGICAL}")
    if not 0 <= physical_ms <= MAX_TS >> LOGICAL_BITS:
        raise ValueError(f"physical part {physical_ms} ms is outside of what a TSO holds")
    return physical_ms << LOGICAL_BITS | logical


def physical(ts: int) -> int:
    """Unix milliseconds of a TSO."""
    return ts >> LOGICAL_BITS


def logical(ts: int) -> int:
    """Logical counter of a TSO, 0 … 262143."""
    return ts & MAX_LOGICAL


def from_datetime(time: datetime) -> int:
    """The TSO of an aware ``datetime``, cut to milliseconds, with logical counter 0."""
    return compose((time - _EPOCH) // timedelta(milliseconds=1))


def to_datetime(ts: int) -> datetime:
    """The physical part as an aware UTC ``datetime``."""
    return _EPOCH + timedelta(milliseconds=physical(ts))
