"""The lines of a golden folder are those that Python's ``json`` would write."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.event_line import event_line, to_json
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.shapes import EXPECTED_EVENTS, IMAGE, MESSAGES
from ticdc_producer.model.table import ColumnInfo, TableInfo
from ticdc_producer.targets.golden.json_lines import event_lines, message_lines, state_lines

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from('"\\\x00\x1f\x7f\x85\u2028\u2029\n')
)
NUMBERS = st.integers(0, 2**31 - 1)
VALUES = st.none() | st.binary(max_size=9) | TEXTS.map(str.encode)
HEADERS = st.fixed_dictionaries({"key": TEXTS, "value": st.none() | st.binary(max_size=5)})
LINE_ENDS = str.maketrans({0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"})


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False).translate(LINE_ENDS).encode() + b"\n"


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(TEXTS, unique=True, max_size=3))
    images = st.none() | st.tuples(*(VALUES for _ in names)).map(lambda row: [*zip(names, row, strict=True)])
    columns = [{"name": name, "type": draw(TEXTS), "flag": draw(NUMBERS)} for name in names]
    return {
        **{name: draw(st.none() | TEXTS) for name in ("topic", "schema", "table", "op", "query")},
        **{name: draw(st.none() | NUMBERS) for name in ("partition", "offset", "index", "table_id")},
        "kind": draw(st.sampled_from(["row", "ddl", "resolved"])),
        "commit_ts": draw(st.integers(0, 2**63 - 1)),
        "columns": draw(st.sampled_from([columns, None])) if not names else columns,
        "before": draw(images),
        "after": draw(images),
        "handle_key_only": draw(st.sampled_from([None, 0, 1])),
        "ddl_type": draw(st.none() | NUMBERS),
    }


@given(st.lists(events(), max_size=4))
def test_events(rows: list[dict[str, Any]]) -> None:
    batch = pa.RecordBatch.from_pylist(rows, EXPECTED_EVENTS)
    expected = b"".join(_json(event_line(row)) for row in rows)
    assert event_lines(batch) == expected
    assert b"".join(event_lines(batch.slice(at, 1)) for at in range(len(rows))) == expected


@given(
    st.lists(
        st.fixed_dictionaries({
            "topic": TEXTS,
            "partition": NUMBERS,
            "offset": st.integers(0, 2**63 - 1),
            "type": TEXTS,
            "key": st.none() | st.binary(max_size=9),
            "value": st.none() | st.binary(max_size=9),
            "timestamp": NUMBERS,
            "headers": st.none()
            | st.lists(HEADERS, max_size=2),
        }),
        max_size=4,
    )
)  # fmt: skip
def test_messages(rows: list[dict[str, Any]]) -> None:
    def base64(data: bytes | None) -> str | None:
        return None if data is None else b64encode(data).decode()

    batch = pa.RecordBatch.from_pylist(rows, MESSAGES)
    expected = b"".join(
        _json({
            **{name: row[name] for name in ("topic", "partition", "offset", "type")},
            "key": base64(row["key"]),
            "value": base64(row["value"]),
            "timestamp": row["timestamp"],
            "headers": [[header["key"], base64(header["value"])] for header in row["headers"] or ()],
        })
        for row in rows
    )  # fmt: skip
    assert message_lines(batch) == expected
    assert b"".join(message_lines(batch.slice(at, 1)) for at in range(len(rows))) == expected


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[tuple[bytes | None, ...]]]:
    names = draw(st.lists(TEXTS.filter(bool), unique=True, min_size=1, max_size=3))
    return names, draw(st.lists(st.tuples(*(VALUES for _ in names)), max_size=4))


@given(tables())
def test_rows_of_a_table(table: tuple[list[str], list[tuple[bytes | None, ...]]]) -> None:
    names, rows = table
    columns = tuple(ColumnInfo(name=name, id=1, type=MySQLType.BLOB) for name in names)
    info = TableInfo(schema="s", name="t", table_id=1, columns=columns)
    expected = b"".join(_json(dict(zip(names, map(to_json, row), strict=True))) for row in rows)
    assert state_lines(info, pa.array(rows, IMAGE)) == expected
