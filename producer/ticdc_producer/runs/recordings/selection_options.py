"""The options of ``record`` that say which events are recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ticdc_producer.dispatch.matcher import Matcher
from ticdc_producer.errors import ArgumentError, ChangefeedError
from ticdc_producer.model import tso
from ticdc_producer.recording.selection import Accepts, Selection
from ticdc_producer.simulate.prepare import TimeStamp, read_ts

_OFFSET = re.compile(r"([0-9]{1,9}):([0-9]{1,18})")
_OFFSETS = re.compile(rf"{_OFFSET.pattern}(,{_OFFSET.pattern})*")


def selection_of(
    table: Sequence[str], key: Sequence[str], since: TimeStamp | None, until: TimeStamp | None
) -> Selection:
    """Return the selection that the options of ``record`` make.

    :raises ArgumentError: for a value that cannot be read.
    """
    offsets, ends = _offsets(since, "since"), _offsets(until, "until")
    return Selection(
        accepts=_accepts(table),
        keys=[_key(text) for text in key],
        after=0 if since is None or offsets else read_ts(since, "since"),
        offsets=offsets,
        until=tso.MAX_TS if until is None or ends else read_ts(until, "until"),
        ends=ends,
    )


def _offsets(value: TimeStamp | None, option: str) -> dict[int, int]:
    """Return the offset of each partition; none if the value has no offsets."""
    text = value.replace(" ", "") if isinstance(value, str) else ""
    if _OFFSETS.fullmatch(text) is None:
        return {}
    offsets: dict[int, int] = {}
    for partition, offset in _OFFSET.findall(text):
        if int(partition) in offsets:
            what = f"{text!r} names partition {int(partition)} twice"
            raise ArgumentError(what, argument=option).about(option)
        offsets[int(partition)] = int(offset)
    return offsets


def _key(text: str) -> dict[str, bytes]:
    """Return the values of a handle key by column."""
    cells = [cell.partition("=") for cell in text.split(",")]
    if not all(name.strip() and equals for name, equals, _ in cells):
        hint = "COLUMN=VALUE of each column of the handle key, such as id=5 or a=1,b=x"
        raise ArgumentError(f"{text!r} is no key", argument="key", hint=hint).about("key")
    return {name.strip(): value.encode() for name, _, value in cells}


def _accepts(rules: Sequence[str]) -> Accepts:
    """Return the test of TiCDC's filter rules.

    :raises ArgumentError: for a rule that cannot be parsed.
    """
    try:
        matcher = Matcher(rules or ("*.*",), case_sensitive=False)
    except ChangefeedError as error:
        raise ArgumentError(error.what, argument="table", hint=error.hint) from None
    return lambda schema, table: matcher.accepts(schema, table) if table else matcher.accepts_schema(schema)
