"""The events that a reader must decode, from rows written by hand and from random ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pipeline.small_changes import Image, op_of
from tests.protocols.expected_events import expected_row
from tests.protocols.random_tables import History, histories
from ticdc_producer.model import tso
from ticdc_producer.model.catalog import Action, Catalog, DDLJob
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import EventColumn, Kind, Op, RowEvent, Value
from ticdc_producer.model.fidelity import Fidelity, ValueProjection
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.shapes import CARRIED, EXPECTED_EVENTS
from ticdc_producer.model.table import PartitionInfo, TableInfo
from ticdc_producer.pipeline.expected_events import ExpectedEvents

TABLE = TableInfo(
    schema="test",
    name="t",
    table_id=100,
    columns=(
        ColumnInfo(name="id", type=MySQLType.LONG, nullable=False),
        ColumnInfo(name="v", type=MySQLType.VARCHAR, charset="utf8mb4", collation="utf8mb4_bin"),
        ColumnInfo(name="b", type=MySQLType.VARCHAR),
    ),
    indexes=(IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True),),
)
PARTED = replace(TABLE, name="parted", version=1, partitions=(PartitionInfo(id=201, name="p0"),))
CREATE = DDLJob(
    commit_seq=0, query="CREATE TABLE t", job_type=Action.CREATE_TABLE, ddl_type=Action.CREATE_TABLE,
    schema="test", table="t", version_after=0,
)  # fmt: skip
CATALOG = Catalog((TABLE, PARTED), (CREATE,))
COMMIT_TS = tso.compose(1_000_000, 5)
OLD, NEW = (b"1", b"a", b"\xff"), (b"1", None, b"\xff")


def event(kind: Kind, **columns: Any) -> dict[str, Any]:
    base = {"topic": "t", "partition": 1, "offset": 7, "index": 2, "commit_ts": COMMIT_TS}
    return {**base, "kind": int(kind), **columns}


def row(before: Image, after: Image, *, version: int = 0, large: bool = False) -> dict[str, Any]:
    return event(
        Kind.ROW,
        table_version=version,
        table_id=201,
        op=int(op_of(before, after)),
        before=before,
        after=after,
        handle_key_only=large,
    )


def expected(
    events: Sequence[Mapping[str, Any]], fidelity: Fidelity, catalog: Catalog = CATALOG
) -> list[dict[str, Any]]:
    rows = pa.RecordBatch.from_pylist([row((b"before",), None), *events], schema=CARRIED)
    batch = ExpectedEvents(catalog, fidelity).expected(rows.slice(1))  # as partitions are slices
    assert batch.schema == EXPECTED_EVENTS
    return [
        {
            **event,
            **{name: None if event[name] is None else dict(event[name]) for name in ("before", "after")},
        }
        for event in batch.to_pylist()
    ]


def images(*events: Mapping[str, Any], **fidelity: Any) -> list[tuple[str, Any, Any]]:
    """The operation and the images of each row, as a protocol of this fidelity carries them."""
    return [
        (event["op"], event["before"], event["after"]) for event in expected(events, Fidelity(**fidelity))
    ]


NAMED_OLD, NAMED_NEW = ({"id": b"1", "v": v, "b": b"\xff"} for v in (b"a", None))
ROWS = (row(None, NEW), row(OLD, NEW), row(OLD, OLD), row(OLD, None))


def test_whole_rows() -> None:
    assert images(*ROWS) == [
        ("insert", None, NAMED_NEW),
        ("update", NAMED_OLD, NAMED_NEW),
        ("update", NAMED_OLD, NAMED_OLD),
        ("delete", NAMED_OLD, None),
    ]


def test_old_values_of_updated_columns() -> None:
    changed = [
        ("insert", None, NAMED_NEW),
        ("update", {"v": b"a"}, NAMED_NEW),
        ("update", {}, NAMED_OLD),
        ("delete", NAMED_OLD, None),
    ]
    assert images(*ROWS, old_values="updated") == changed
    # A message without operation and old values reads as an insert.
    changed[2] = ("insert", None, NAMED_OLD)
    assert images(*ROWS, old_values="updated", names_operation=False) == changed


@pytest.mark.parametrize(("names_operation", "label"), [(True, "update"), (False, "insert")])
def test_updates_without_old_values(names_operation: bool, label: str) -> None:
    assert images(*ROWS, old_values="none", names_operation=names_operation) == [
        ("insert", None, NAMED_NEW),
        (label, None, NAMED_NEW),
        (label, None, NAMED_OLD),
        ("delete", NAMED_OLD, None),
    ]


KEY = {"id": b"1"}
LARGE = (row(None, NEW, large=True), row(OLD, NEW, large=True), row(OLD, None, large=True))


@pytest.mark.parametrize(
    ("fidelity", "update"),
    [
        ({}, ("update", KEY, KEY)),
        ({"names_operation": False}, ("update", KEY, KEY)),
        ({"old_values": "updated"}, ("update", {}, KEY)),
        ({"old_values": "updated", "names_operation": False}, ("insert", None, KEY)),
        ({"old_values": "none"}, ("update", None, KEY)),
        ({"old_values": "none", "names_operation": False}, ("insert", None, KEY)),
    ],
)
def test_rows_of_which_only_the_handle_key_is_sent(fidelity: dict[str, Any], update: tuple[Any, ...]) -> None:
    assert images(*LARGE, **fidelity) == [("insert", None, KEY), update, ("delete", KEY, None)]
    reduced = expected([*LARGE, row(None, NEW)], Fidelity(**fidelity))
    assert [event["handle_key_only"] for event in reduced] == [1, 1, 1, 0]
    assert [[column["name"] for column in event["columns"]] for event in reduced] == [
        ["id"], ["id"], ["id"], ["id", "v", "b"],
    ]  # fmt: skip


def test_deletes_with_their_handle_key_only() -> None:
    deleted, inserted = expected([row(OLD, None), row(None, NEW)], Fidelity(deletes="handle-key"))
    assert (deleted["before"], inserted["after"]) == (KEY, NAMED_NEW)
    assert deleted["columns"] == [{"name": "id", "type": "int", "flag": TABLE.flags[0]}]
    assert [column["name"] for column in inserted["columns"]] == ["id", "v", "b"]
    assert (deleted["handle_key_only"], inserted["handle_key_only"]) == (0, 0)


def test_only_text_that_is_not_utf8_is_replaced() -> None:
    values: list[Value] = [b"\xff", b"a\xe2\x82", b"\xed\xa0\x80", "é€".encode(), b"", None]
    rows = [row(None, (b"1", value, value)) for value in values]
    afters = [after for _, _, after in images(*rows, damaged_text=frozenset({MySQLType.VARCHAR}))]
    assert [after["b"] for after in afters] == values
    texts = ["\ufffd", "a\ufffd\ufffd", "\ufffd\ufffd\ufffd", "é€", ""]
    assert [after["v"] for after in afters] == [*(text.encode() for text in texts), None]


def test_columns_that_become_equal_are_still_updated() -> None:
    update = row((b"1", b"\xfe", b""), (b"1", b"\xff", b""))
    fidelity: dict[str, Any] = {"damaged_text": frozenset({MySQLType.VARCHAR}), "old_values": "updated"}
    text = "\ufffd".encode()
    assert images(update, **fidelity) == [("update", {"v": text}, {"id": b"1", "v": text, "b": b""})]


class Upper(Fidelity):
    """Carries texts in upper case."""

    def value_projection(self, column: ColumnInfo) -> ValueProjection | None:
        if column.type != MySQLType.VARCHAR:
            return None
        return lambda value: value and value.upper()


def test_values_are_projected_in_both_images() -> None:
    reduced = expected([row((b"1", b"a", b"x"), (b"1", None, b"y")), row(None, (b"2", b"c", None))], Upper())
    assert [(event["before"], event["after"]) for event in reduced] == [
        ({"id": b"1", "v": b"A", "b": b"X"}, {"id": b"1", "v": None, "b": b"Y"}),
        (None, {"id": b"2", "v": b"C", "b": None}),
    ]


def test_columns_are_sorted_by_name_if_the_protocol_sorts_them() -> None:
    (event,) = expected([row(None, NEW)], Fidelity(sorted_columns=True))
    assert [column["name"] for column in event["columns"]] == ["b", "id", "v"]
    assert list(event["after"].items()) == [("b", b"\xff"), ("id", b"1"), ("v", None)]


@pytest.mark.parametrize(
    ("table_ids", "wanted"), [("all", [201, 201]), ("partitions", [0, 201]), ("none", [0, 0])]
)
def test_table_ids(table_ids: Any, wanted: list[int]) -> None:
    reduced = expected([row(None, NEW), row(None, NEW, version=1)], Fidelity(table_ids=table_ids))
    assert [event["table_id"] for event in reduced] == wanted


DDL, RESOLVED = event(Kind.DDL, ddl=0), event(Kind.RESOLVED)
MILLISECONDS = tso.compose(1_000_000)


@pytest.mark.parametrize(
    ("precision", "wanted"),
    [
        ("exact", [COMMIT_TS] * 4),
        ("milliseconds", [MILLISECONDS, MILLISECONDS, MILLISECONDS, COMMIT_TS]),
        ("not deletes", [COMMIT_TS, 0, COMMIT_TS, COMMIT_TS]),
        ("none", [0, 0, COMMIT_TS, COMMIT_TS]),
    ],
)
def test_commit_ts(precision: Any, wanted: list[int]) -> None:
    events = [row(None, NEW), row(OLD, None), DDL, RESOLVED]
    assert [event["commit_ts"] for event in expected(events, Fidelity(commit_ts=precision))] == wanted


def test_events_of_all_kinds_stay_in_order() -> None:
    position = {"topic": "t", "partition": 1, "offset": 7, "index": 2, "commit_ts": COMMIT_TS}
    nothing = dict.fromkeys(EXPECTED_EVENTS.names)
    resolved, first, ddl, second = expected([RESOLVED, row(None, NEW), DDL, row(OLD, None)], Fidelity())
    assert resolved == {**nothing, **position, "kind": "resolved"}
    assert ddl == {
        **nothing, **position, "kind": "ddl", "schema": "test", "table": "t", "query": "CREATE TABLE t",
        "ddl_type": int(Action.CREATE_TABLE),
    }  # fmt: skip
    assert [first["op"], second["op"]] == ["insert", "delete"]
    assert all({**event, **position} == event for event in (first, second))


@pytest.mark.parametrize("events", [[], [RESOLVED], [DDL]], ids=["none", "resolved", "DDL"])
def test_without_rows_the_columns_are_the_same(events: list[dict[str, Any]]) -> None:
    assert [event["op"] for event in expected(events, Fidelity())] == [None] * len(events)


class Renaming(Upper):
    """Also changes all names."""

    def visible_name(self, name: str) -> str:
        return f"_{name}"


FIDELITIES = st.builds(
    lambda kind, **options: kind(**options),
    st.sampled_from([Fidelity, Upper, Renaming]),
    sorted_columns=st.booleans(),
    old_values=st.sampled_from(["all", "updated", "none"]),
    names_operation=st.booleans(),
    deletes=st.sampled_from(["all", "handle-key"]),
    flags=st.booleans(),
    table_ids=st.sampled_from(["partitions", "all", "none"]),
    commit_ts=st.sampled_from(["exact", "milliseconds", "not deletes", "none"]),
    damaged_text=st.sampled_from([frozenset[MySQLType](), frozenset(MySQLType)]),
)


@given(histories(), FIDELITIES, st.data())
def test_random_rows_are_reduced_as_single_rows_are(
    history: History, fidelity: Fidelity, data: st.DataObject
) -> None:
    large = data.draw(st.lists(st.booleans(), min_size=len(history.rows), max_size=len(history.rows)))
    events = [
        event(
            Kind.ROW,
            table_version=0,
            table_id=change.table_id,
            commit_ts=change.commit_ts,
            op=int(change.op),
            before=change.before,
            after=change.after,
            handle_key_only=is_large,
        )
        for change, is_large in zip(history.rows, large, strict=True)
    ]
    catalog = Catalog((replace(history.table, version=0),))
    for sent, change, is_large in zip(expected(events, fidelity, catalog), history.rows, large, strict=True):
        assert _as_event(sent) == expected_row(change, fidelity, too_large=is_large)


def _as_event(event: Mapping[str, Any]) -> RowEvent:
    return RowEvent(
        commit_ts=event["commit_ts"],
        schema=event["schema"],
        table=event["table"],
        op=Op[event["op"].upper()],
        columns=tuple(EventColumn(**column) for column in event["columns"]),
        before=event["before"],
        after=event["after"],
        table_id=event["table_id"],
        handle_key_only=bool(event["handle_key_only"]),
    )
