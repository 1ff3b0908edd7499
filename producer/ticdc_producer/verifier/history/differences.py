"""The differences of two histories: those of their DDLs, and the first one of a row key, with both events."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ticdc_producer.hints import shortened
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.event import Value
from ticdc_producer.model.event_line import DecodedRow, RowImage, event_content, to_json
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.verifier.event_layouts import DescribedColumn
from ticdc_producer.verifier.events import EventID
from ticdc_producer.verifier.history.common_form import CommonForm
from ticdc_producer.verifier.history.history_comparison import DifferenceKind, FirstDifference
from ticdc_producer.verifier.history.history_rows import HistoryDDL, TableName
from ticdc_producer.verifier.history.outcome import HistoryDifference
from ticdc_producer.verifier.history.sides import ColumnProjections, KnownSide, readable

DDLs = Mapping[HistoryDDL, EventID | None]
_DATABASE = re.compile(r"\s*(create|alter|drop)\s+(?:database|schema)\b", re.IGNORECASE)
_ACTIONS = {
    "create": Action.CREATE_SCHEMA,
    "alter": Action.MODIFY_SCHEMA_CHARSET,
    "drop": Action.DROP_SCHEMA,
}
_SELDOM_SENT = re.compile(
    r"\b(foreign|check|constraint|sequence|placement|policy|ttl\w*|tiflash|(no)?cache|attributes|stats_\w+"
    r"|shard_row_id_bits|auto_id_cache|auto_random_base)\b",
    re.IGNORECASE,
)
"""Words of the statements on tables for which some protocols have no message."""
_TYPE_UNKNOWN = "one side does not carry their type, and the other has no message for some types"


@dataclass
class DDLDifferences:
    """The DDLs of two streams.

    :param equal: number of equal ones by ``SCHEMA.TABLE``.
    :param different: those that differ, or that one stream lacks, by commit-ts.
    :param not_compared: by reason the number of those that only one protocol has.
    """

    equal: Counter[str] = field(default_factory=Counter)
    different: list[HistoryDifference] = field(default_factory=list)
    not_compared: Counter[str] = field(default_factory=Counter)


def compare_ddls(form: CommonForm, a: DDLs, b: DDLs) -> DDLDifferences:
    """Compare all DDLs of two streams.

    DDLs of the same time and text face each other; then those of the same text, and those of the same time.
    """
    result, rest = DDLDifferences(), [_once(a), _once(b)]
    for keys in (_time_and_query, _query, _time):
        for own, other in _pairs(keys, rest):
            kind = _kind(form, own, other)
            if kind:
                result.different.append(_difference(kind, own, other, a, b))
            else:
                result.equal[_name(own, other)] += 1
    for side, ddls in enumerate(rest):
        for ddl in ddls:
            reason = _skip_reason(form.fidelities[1 - side], ddl)
            if reason:
                result.not_compared[reason] += 1
            else:
                first, second = (None, ddl) if side else (ddl, None)
                kind = "only in B" if side else "only in A"
                result.different.append(_difference(kind, first, second, a, b))
    result.different.sort(key=lambda difference: (difference.table, difference.a or difference.b or ""))
    return result


def _once(ddls: DDLs) -> list[HistoryDDL]:
    """Return the DDLs in order. DDLs that differ only in their names count as one."""
    return [*{_time_and_query(ddl): ddl for ddl in sorted(ddls, reverse=True)}.values()][::-1]


def _time_and_query(ddl: HistoryDDL) -> object:
    return ddl.time, ddl.query


def _query(ddl: HistoryDDL) -> object:
    return ddl.query


def _time(ddl: HistoryDDL) -> object:
    return ddl.time


def _pairs(
    key: Callable[[HistoryDDL], object], rest: list[list[HistoryDDL]]
) -> Iterator[tuple[HistoryDDL, HistoryDDL]]:
    """Yield the DDLs of both sides that have the same key, and remove them from the rest."""
    by_key: dict[object, list[HistoryDDL]] = {}
    for ddl in rest[1]:
        by_key.setdefault(key(ddl), []).append(ddl)
    lone = []
    for ddl in rest[0]:
        others = by_key.get(key(ddl))
        if others:
            yield ddl, others.pop(0)
        else:
            lone.append(ddl)
    rest[0] = lone
    rest[1] = [ddl for others in by_key.values() for ddl in others]


def _kind(form: CommonForm, a: HistoryDDL, b: HistoryDDL) -> str:
    """Return how two DDLs differ; empty: they are equal."""
    if a.query != b.query:
        return "query"
    if a.time != b.time:
        return "commit-ts"
    first, second = form.fidelities
    types = second.visible_ddl_type(a.action), first.visible_ddl_type(b.action)
    if all(types) and types[0] != types[1]:
        return "type"
    same_names = first != second or (a.schema, a.table) == (b.schema, b.table)
    return "" if same_names else "table"


def _skip_reason(other: Fidelity, ddl: HistoryDDL) -> str:
    """Return why the other protocol has no message for a DDL; empty if it has one."""
    database = _DATABASE.match(ddl.query)
    action = ddl.action or (_ACTIONS[database[1].lower()] if database else 0)
    if action:
        return other.ddl_skip_reason(action)
    if not _SELDOM_SENT.search(ddl.query):
        return ""
    others = {*Action} - {*_ACTIONS.values()}
    return _TYPE_UNKNOWN if any(map(other.ddl_skip_reason, others)) else ""


def _difference(
    kind: str, a: HistoryDDL | None, b: HistoryDDL | None, ddls_a: DDLs, ddls_b: DDLs
) -> HistoryDifference:
    texts = [None if ddl is None else _text(kind, ddl) for ddl in (a, b)]
    return HistoryDifference(
        table=_name(a, b),
        kind=f"DDL, {kind}",
        a=texts[0],
        b=texts[1],
        position_a=_position(ddls_a, a),
        position_b=_position(ddls_b, b),
    )


def _text(kind: str, ddl: HistoryDDL) -> str:
    if kind == "type":
        return f"{ddl.commit_ts} type={ddl.action} {ddl.query}"
    return f"{ddl.commit_ts} {ddl.query}"


def _position(ddls: DDLs, ddl: HistoryDDL | None) -> str:
    event = None if ddl is None else ddls.get(ddl)
    return "" if event is None else "{}/{}@{}[{}]".format(*event)


def _name(*ddls: HistoryDDL | None) -> str:
    """Return the table of a DDL, or its database; a protocol may name none."""
    names = [".".join(filter(None, (ddl.schema, ddl.table))) for ddl in ddls if ddl is not None]
    return max(names, key=len)


_MAX_TEXT = 200


@dataclass(frozen=True)
class DifferenceTexts:
    """The texts that describe differences.

    :param sides: A and B.
    :param events: of A and B, the decoded events of the differences.
    """

    sides: Sequence[KnownSide]
    events: Sequence[Mapping[EventID, DecodedRow]]

    def described(
        self, table: TableName, keys: Sequence[tuple[str, ...]], first: FirstDifference
    ) -> HistoryDifference:
        """Return a difference as text.

        :param keys: the handle keys that rows of the table have.
        """
        rows = [
            None if position is None else self.events[side].get(position)
            for side, position in enumerate((first.a, first.b))
        ]
        some = next(row for row in rows if row is not None)
        difference = HistoryDifference(
            table=".".join(table),
            kind=str(first.kind),
            key=self._key_text(keys, some, deletes=first.deletes),
            before=first.number,
            **{f"position_{side}": _event_position(row) for side, row in zip("ab", rows, strict=True)},
            **{f"event_{side}": _event_text(row) for side, row in zip("ab", rows, strict=True)},
        )
        a, b = rows
        if a is None or b is None:
            return difference
        match first.kind:
            case DifferenceKind.COMMIT_TS | DifferenceKind.ORDER:
                return replace(difference, a=str(a["commit_ts"] or ""), b=str(b["commit_ts"] or ""))
            case DifferenceKind.OPERATION:
                return replace(difference, a=a["op"], b=b["op"])
            case DifferenceKind.VALUES:
                for column, values in self._different_values(table, a, b):
                    return replace(difference, column=column, a=values[0], b=values[1])
        return difference

    def _key_text(self, keys: Sequence[tuple[str, ...]], row: DecodedRow, *, deletes: bool) -> str:
        """Return the row key; an update that changes it deletes the row with the old key."""
        image = self._common_names(row["after"])
        if deletes:
            image |= self._common_names(row["before"])
        for key in keys:
            if key and image.keys() >= {*key}:
                return " ".join(f"{name}={_value_text(image[name])}" for name in key)
        return ""

    def _common_names(self, image: RowImage | None) -> dict[str, Value]:
        return {self.sides[0].form.name(name): value for name, value in dict(image or ()).items()}

    def _different_values(
        self, table: TableName, a: DecodedRow, b: DecodedRow
    ) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yield the columns with different values, new values first; a value that is not sent is empty."""
        for name in ("after", "before"):
            images = [self._common_names(row[name]) for row in (a, b)]
            if not all(images):
                continue
            if name == "before":  # columns that are not sent did not change
                images = [
                    self._common_names(row["after"]) | image
                    for row, image in zip((a, b), images, strict=True)
                ]
            columns = dict.fromkeys((*self._in_order(a), *images[0], *images[1]))
            for column in columns:
                present = [column in image for image in images]
                if not any(present):
                    continue
                common = [
                    self._common(table, row, side, column, image.get(column))
                    for side, (row, image) in enumerate(zip((a, b), images, strict=True))
                ]
                if common[0] != common[1] or present[0] != present[1]:
                    texts = [_value_text(image[column]) if column in image else "" for image in images]
                    suffix = " before" if name == "before" and a["op"] != "delete" else ""
                    yield f"{column}{suffix}", (texts[0], texts[1])

    def _in_order(self, row: DecodedRow) -> Iterator[str]:
        for column in row["columns"] or ():
            yield self.sides[0].form.name(column["name"])

    def _common(self, table: TableName, row: DecodedRow, side: int, name: str, value: Value) -> Value:
        """Return a value in the form in which it is compared."""
        known = self.sides[side]
        columns = {
            known.form.name(column["name"]): DescribedColumn(**column) for column in row["columns"] or ()
        }
        names = [*columns] or [*self._common_names(row["after"] or row["before"])]
        times = np.array([row["commit_ts"] or 0], np.int64)
        ((definition, _),) = known.definitions.of_rows(table, names, times, known.form.ticks)
        column = columns.get(name, DescribedColumn(name, "", 0))
        projection, is_compared = ColumnProjections(known).of(table, column, definition)
        if not is_compared:
            return None
        return value if projection is None else readable(projection, value)


def _event_position(row: DecodedRow | None) -> str:
    return "" if row is None else f"{row['topic']}/{row['partition']}@{row['offset']}[{row['index']}]"


def _event_text(row: DecodedRow | None) -> str:
    if row is None:
        return ""
    text = event_content(row)
    text = f"{row['commit_ts']} {text}" if row["commit_ts"] else text
    return shortened(text, _MAX_TEXT)


def _value_text(value: Value) -> str:
    """Return a value as text: ``NULL``, the text itself, or hexadecimal digits."""
    if value is None:
        return "NULL"
    text = to_json(bytes(value))
    whole = text if isinstance(text, str) else f"x'{bytes(value).hex()}'"
    return whole if len(whole) <= _MAX_TEXT else f"{shortened(whole, _MAX_TEXT)}({len(value)} bytes)"
