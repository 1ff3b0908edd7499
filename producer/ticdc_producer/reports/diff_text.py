"""The comparison of two histories as text."""

from __future__ import annotations

from collections.abc import Iterator

from ticdc_producer.hints import counted
from ticdc_producer.model.tso import to_datetime
from ticdc_producer.verifier.history.outcome import HistoryDiff, HistoryDifference, SideSummary, TableDiff


def diff_lines(diff: HistoryDiff, *, quiet: bool = False) -> Iterator[str]:
    """Yield the lines of a comparison.

    :param quiet: omit tables without differences and what was not compared.
    """
    for label, side in (("A", diff.a), ("B", diff.b)):
        yield _side_line(label, side)
    for table in diff.tables:
        if not (quiet and table.ok):
            yield ""
            yield from _table_lines(table)
    if diff.not_compared and not quiet:
        yield ""
        yield "not compared:"
        for what, reason in diff.not_compared.items():
            yield f"  {what}: {reason}"
    yield ""
    yield "equal" if diff.equal else "different"


def _side_line(label: str, side: SideSummary) -> str:
    counts = f"{counted(side.rows, 'row event')}, {counted(side.ddls, 'DDL')}"
    text = f"{label}: {side.name} ({side.protocol}): {counts}"
    if side.resolved_ts is None:
        text += ", no resolved-ts"
    else:
        time = to_datetime(side.resolved_ts).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        text += f", resolved up to {side.resolved_ts} ({time})"
    if side.undecoded:
        text += f"; {counted(side.undecoded, 'message')} did not decode, the first at {side.first_undecoded}"
    return text


def _table_lines(table: TableDiff) -> Iterator[str]:
    what = "keys" if table.keyed else "different changes"
    compared = table.equal + table.different
    line = f"{table.name}: {compared:,} {what} compared: {table.equal:,} equal, {table.different:,} different"
    yield f"{line}; {table.only_a:,} only in A, {table.only_b:,} only in B"
    if table.ddls or table.other_ddls:
        yield f"  DDLs: {table.ddls:,} equal, {table.other_ddls:,} different"
    for example in table.examples:
        yield from _example_lines(example)


def _example_lines(example: HistoryDifference) -> Iterator[str]:
    key = f"{example.key}: " if example.key else ""
    if example.before:
        key += f"after {counted(example.before, 'equal change')}: "
    what = f"{example.kind}, column {example.column}" if example.column else example.kind
    yield f"  {key}{what}"
    for label, value, position, event in (
        ("A", example.a, example.position_a, example.event_a),
        ("B", example.b, example.position_b, example.event_b),
    ):
        if value is None and not position and not event:
            continue
        parts = (value or "", position, event if value is None or not example.column else "")
        yield f"    {label}: {'  '.join(part for part in parts if part)}"
