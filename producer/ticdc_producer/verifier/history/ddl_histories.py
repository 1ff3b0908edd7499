"""Compares the DDLs of two streams: text, time, and type and names as far as both carry them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ticdc_producer.model.catalog import Action
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.verifier.history.common_form import CommonForm
from ticdc_producer.verifier.history.history_rows import HistoryDDL
from ticdc_producer.verifier.history.outcome import HistoryDifference
from ticdc_producer.verifier.violations import EventID

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
    """Return the DDLs in order; those that differ in their names alone are one."""
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
    """Return why a DDL that the other side lacks is none of its protocol; empty: it should have it."""
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
