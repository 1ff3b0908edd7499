"""Differences between a consumer's tables and the expected state, as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from ticdc_producer.model.event import Value
from ticdc_producer.model.json_value import to_json
from ticdc_producer.verifier.consumer_state.cell import UNREADABLE
from ticdc_producer.verifier.consumer_state.outcome import RowDifference, StateOutcome, TableOutcome

_LONGEST, _BEFORE = 48, 12
"""Characters of a value that are shown, and how many of them stand before the first that differs."""


def state_lines(outcome: StateOutcome, *, quiet: bool = False) -> Iterator[str]:
    """All tables; the last line is the summary.

    :param quiet: tables that differ and the summary only.
    """
    width = max((len(table.table) for table in outcome.tables), default=0)
    for table in outcome.tables:
        if not (quiet and table.ok):
            yield f"{'ok   ' if table.ok else 'error'}  {table.table:<{width}}  {_account(table)}"
            yield from (f"  {line}" for line in table_lines(table))
    if outcome.ignored and not quiet:
        yield f"not compared: {', '.join(outcome.ignored)}"
    wrong = sum(not table.ok for table in outcome.tables)
    verb = "differs" if wrong == 1 else "differ"
    yield f"VIOLATED: {wrong} of {_tables(len(outcome.tables))} {verb}" if wrong else "verified"


def _tables(count: int) -> str:
    return "1 table" if count == 1 else f"{count} tables"


def _account(table: TableOutcome) -> str:
    if not table.actual:
        return "there is no such table (--map SCHEMA.TABLE=NAME names it)"
    rows = "row" if table.expected_rows == 1 else "rows"
    head = f"{table.expected_rows:,} {rows} expected, {table.actual_rows:,} found in {table.actual}"
    counts = {"missing": table.missing, "extra": table.extra, "different": table.different}
    told = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    return f"{head}: {told}" if told else head


def table_lines(table: TableOutcome) -> Iterator[str]:
    """What is wrong with one table, aligned: columns, then rows."""
    if table.missing_columns:
        yield f"missing columns: {', '.join(table.missing_columns)}"
    if table.extra_columns:
        names = ", ".join(table.extra_columns)
        yield f"columns that nobody expects: {names} (--ignore-column leaves one out)"
    for kind, count in (("different", table.different), ("missing", table.missing), ("extra", table.extra)):
        examples = [one for one in table.examples if one.kind == kind]
        yield from _rows(kind, examples)
        if count > len(examples):
            yield f"{kind:<9}  … and {count - len(examples):,} more"


def _rows(kind: str, examples: Sequence[RowDifference]) -> Iterator[str]:
    if kind == "different":
        for one in examples:
            yield f"{kind:<9}  {' '.join(_named(one.key))}"
            yield from (f"    {line}" for line in _columns(one))
        return
    rows = [[*_named(one.key), *_named(one.expected or one.actual)] for one in examples]
    yield from (f"{kind:<9}  {line}" for line in _aligned(rows))


def _columns(one: RowDifference) -> list[str]:
    return _aligned(
        [
            [name, f"expected {_shown(value, one.actual[name])}", f"found {_shown(one.actual[name], value)}"]
            for name, value in one.expected.items()
        ]
    )


def _named(values: Mapping[str, Value]) -> list[str]:
    return [f"{name}={_shown(value)}" for name, value in values.items()]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _shown(value: Value, other: Value = None) -> str:
    """A value as a literal; of a long one the piece around the first character that differs."""
    if value is None:
        return "NULL"
    if value.startswith(UNREADABLE):
        return f"{_cut(repr(_text(value.removeprefix(UNREADABLE))), 0)} (no value of this type)"
    if isinstance(to_json(value), dict):
        return f"x'{_cut(value.hex(), 2 * _same(value, other))}'"
    return f"'{_cut(_escaped(value.decode()), _same(value, other))}'"


def _escaped(text: str) -> str:
    return repr(text)[1:-1]


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


def _same(value: bytes, other: Value) -> int:
    """How many bytes both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(value, other or b"", strict=False)))


def _cut(text: str, differs: int) -> str:
    if len(text) <= _LONGEST:
        return text
    start = max(0, min(differs - _BEFORE, len(text) - _LONGEST))
    end = start + _LONGEST
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
