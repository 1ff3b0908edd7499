"""Compares two streams as histories: per row key the changes by commit-ts, and the DDLs of each table.

    A ──▶ decode, reduce ─┐
                          ├─by row key──▶ duplicates dropped; changes of A face those of B
    B ──▶ decode, reduce ─┘

Only keys, fingerprints and positions move. The events of examples are decoded again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from fnmatch import fnmatchcase

from ticdc_producer.engine.choose import EngineChoice
from ticdc_producer.engine.dataset import Engine
from ticdc_producer.errors import ArgumentError
from ticdc_producer.verifier.events import EventID
from ticdc_producer.verifier.history.common_form import CommonForm
from ticdc_producer.verifier.history.differences import DDLDifferences, DifferenceTexts, compare_ddls
from ticdc_producer.verifier.history.history_comparison import (
    A,
    B,
    FirstDifference,
    HistoryComparison,
    KeyCounts,
    merged_counts,
)
from ticdc_producer.verifier.history.history_rows import HistoryStats, TableName
from ticdc_producer.verifier.history.outcome import (
    HistoryDiff,
    HistoryDifference,
    SideSummary,
    TableDiff,
)
from ticdc_producer.verifier.history.readings import Reading, readings
from ticdc_producer.verifier.history.sides import HistorySide

_NO_COUNTS = KeyCounts(limit=0)
_SIDE = ("A", "B")


def diff_histories(
    engine: Engine,
    sides: tuple[HistorySide, HistorySide],
    *,
    tables: Sequence[str] = (),
    examples: int = 3,
    choice: EngineChoice | None = None,
) -> HistoryDiff:
    """Compare two streams as histories.

    :param engine: that of all datasets.
    :param tables: ``SCHEMA.TABLE`` of the tables that are compared, with ``*``; empty: all.
    :param examples: number of examples per table.
    :param choice: why this engine compares them.
    """
    form = CommonForm((sides[0].fidelity, sides[1].fidelity))
    with ExitStack() as stack:
        both = readings(form, sides, tables, stack)
        grouped = engine.grouped({A: both[0].rows, B: both[1].rows}, "key")
        histories = HistoryComparison(
            in_order_of_time=form.in_order_of_time,
            exact=(_exact(sides[0]), _exact(sides[1])),
            ordered=(sides[0].ordered, sides[1].ordered),
            limit=examples,
        )
        counts = merged_counts(grouped.results(histories))
        differences = _described(sides, both, counts)
    ddls = DDLDifferences()
    if not any(side.without_ddls for side in sides):
        ddls = compare_ddls(form, both[0].stats.ddls, both[1].stats.ddls)
    columns = [*_column_differences(sides, both)]
    names = {".".join(name): name for name in counts}
    every = sorted({*names, *ddls.equal, *(difference.table for difference in ddls.different)})
    _check_patterns(tables, every)
    without_key = [name for name, table in names.items() if not counts[table].keyed]
    return HistoryDiff(
        a=_summary(sides[0], both[0].stats),
        b=_summary(sides[1], both[1].stats),
        tables=tuple(
            _table_diff(
                name,
                counts.get(names.get(name, ("", "")), _NO_COUNTS),
                differences,
                ddls,
                [column for column in columns if column.table == name],
                examples,
            )
            for name in every
        ),
        not_compared=_not_compared(form, sides, ddls, without_key, both),
        engine=choice,
    )


def _check_patterns(patterns: Iterable[str], names: Sequence[str]) -> None:
    """Check that each pattern of tables has one.

    :raises ArgumentError: for one that has none.
    """
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            what = f"no table {pattern!r} is in either history"
            raise ArgumentError(what, argument="tables").about("tables")


def _exact(side: HistorySide) -> bool:
    """Return whether the commit-ts order the changes of a row."""
    return side.fidelity.commit_ts == "exact"


def _described(
    sides: Sequence[HistorySide], both: Sequence[Reading], counts: Mapping[TableName, KeyCounts]
) -> dict[str, list[HistoryDifference]]:
    """Return the examples of each table, described from their events."""
    examples = [example for of_table in counts.values() for example in of_table.examples]
    events = [
        side.at(filter(None, positions))
        for side, positions in zip(sides, (_positions(examples, A), _positions(examples, B)), strict=True)
    ]
    texts = DifferenceTexts([reading.known for reading in both], events)
    described: defaultdict[str, list[HistoryDifference]] = defaultdict(list)
    for table, of_table in counts.items():
        keys = sorted({key for reading in both for key in reading.stats.keys.get(table, ())})
        for example in of_table.examples:
            described[".".join(table)].append(texts.described(table, keys, example))
    return described


def _positions(examples: Iterable[FirstDifference], side: str) -> list[EventID | None]:
    return [getattr(example, side) for example in examples]


def _column_differences(sides: Sequence[HistorySide], both: Sequence[Reading]) -> Iterator[HistoryDifference]:
    """Yield the descriptions of columns that only one side has, of tables of both."""
    shapes = [reading.stats.shapes for reading in both]
    common = {table for table, _ in shapes[0]} & {table for table, _ in shapes[1]}
    for number, own in enumerate(shapes):
        lone = {
            shape: event
            for shape, event in own.items()
            if shape[0] in common and shape not in shapes[1 - number]
        }
        events = sides[number].at(lone.values())
        for (table, _), event in sorted(lone.items(), key=lambda item: item[1]):
            columns = events[event]["columns"] or ()
            text = ", ".join(f"{column['name']} {column['type']} {column['flag']:#x}" for column in columns)
            position = "{}/{}@{}[{}]".format(*event)
            yield HistoryDifference(
                table=".".join(table),
                kind=f"columns, only in {_SIDE[number]}",
                a=None if number else text,
                b=text if number else None,
                position_a="" if number else position,
                position_b=position if number else "",
            )


def _table_diff(
    name: str,
    counts: KeyCounts,
    differences: Mapping[str, Sequence[HistoryDifference]],
    ddls: DDLDifferences,
    columns: Sequence[HistoryDifference],
    examples: int,
) -> TableDiff:
    other_ddls = [difference for difference in ddls.different if difference.table == name]
    return TableDiff(
        name=name,
        equal=counts.equal,
        different=counts.different,
        only_a=counts.only_a,
        only_b=counts.only_b,
        keyed=counts.keyed,
        changes_a=counts.changes_a,
        changes_b=counts.changes_b,
        ddls=ddls.equal[name],
        other_ddls=len(other_ddls),
        other_columns=len(columns),
        examples=(*other_ddls[:examples], *columns[:examples], *differences.get(name, ())),
    )


def _summary(side: HistorySide, stats: HistoryStats) -> SideSummary:
    return SideSummary(
        name=side.name,
        protocol=side.protocol,
        rows=stats.rows,
        ddls=len(stats.ddls),
        resolved_ts=stats.resolved_ts or None,
        undecoded=stats.errors,
        first_undecoded="" if stats.first_error is None else "{}/{}@{}[{}]".format(*stats.first_error),
    )


def _not_compared(
    form: CommonForm,
    sides: Sequence[HistorySide],
    ddls: DDLDifferences,
    without_key: Sequence[str],
    both: Sequence[Reading],
) -> dict[str, str]:
    """Return what is not compared, with the reasons."""
    reasons = _lacking(form, sides)
    if not form.in_order_of_time:
        what = "a change equal to an earlier one of its row"
        reasons[what] = "without a commit-ts it looks like a duplicate"
    if not form.descriptions:
        reasons["types and flags of columns"] = "the protocols or their options describe columns differently"
    for label, side in zip(_SIDE, sides, strict=True):
        if side.without_ddls:
            reasons["DDLs"] = f"{label} ({side.protocol}): {side.without_ddls}"
    reasons |= {f"{number} of the DDLs": reason for reason, number in ddls.not_compared.items()}
    for column in sorted({name for reading in both for name in reading.stats.unreadable}):
        reasons[f"column {column}"] = "no DDL or folder says how one of the protocols changes its values"
    for name in without_key:
        reasons[f"row keys of {name}"] = "they are unknown or change: equal changes of one time count once"
    return reasons


def _lacking(form: CommonForm, sides: Sequence[HistorySide]) -> dict[str, str]:
    """Return what the protocol of a side does not carry, with the reasons."""
    reasons: dict[str, str] = {}

    def lacking(what: str, why: str, *of: bool) -> None:
        names = [
            f"{label} ({side.protocol})" for label, side, lacks in zip(_SIDE, sides, of, strict=True) if lacks
        ]
        if names:
            reasons[what] = f"{' and '.join(names)}: {why}"

    def of_both(test: str) -> tuple[bool, ...]:
        return tuple(not getattr(side.fidelity, test) for side in sides)

    lacking(
        "updates apart from inserts", "an update may read as an insert", *of_both("distinguishes_updates")
    )
    if form.upserts or not form.old_values:
        lacking("old images of updates", "updates have none", *of_both("has_old_values"))
    keys_only = (side.fidelity.deletes != "all" for side in sides)
    lacking("columns of deleted rows", "deletes have the handle key alone", *keys_only)
    for unit, text in ((1, "milliseconds"), (1000, "seconds")):
        coarse = tuple(side.fidelity.commit_ts == text for side in sides)
        if form.unit == unit:
            lacking(f"commit-ts within {text}", f"commit-ts are in {text}", *coarse)
            equal = "a change equal to an earlier one of its row in the same unit of time"
            lacking(equal, "it looks like a duplicate", *coarse)
    none = [side.fidelity.commit_ts == "none" for side in sides]
    lacking("commit-ts of rows", "rows have none", *none)
    if not any(none):
        lacking(
            "commit-ts of deletes", "they have none", *(s.fidelity.commit_ts == "not deletes" for s in sides)
        )
    return reasons
