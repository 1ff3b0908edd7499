"""Messages for the Canal-JSON tests: golden ones in comparable form, and small invented ones."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

from tests.golden_events import GOLDEN, GoldenEvent, GoldenRow, load_events
from tests.new_events import as_new, classic_file, is_new
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.row_options import CanalJSONOptions

TIDB_ZEROFILL = 0x40  # mysql.ZerofillFlag, TiDB's own numbering
BUILD_TS_MS = 946684800000  # the fixed clock of the golden encoders

_VARIANTS = {
    "canal-json": {},
    "canal-json.content-compatible": {"content_compatible": True},
    "canal-json.delete-only-handle-key": {"delete_only_output_handle_key_columns": True},
    "canal-json.max-message-bytes-1024.handle-key-only": {
        "enable_tidb_extension": True,
        "max_message_bytes": 1024,
        "large_message_handle_option": "handle-key-only",
    },
    "canal-json.only-output-updated-columns": {"only_output_updated_columns": True},
    "canal-json.tidb-extension": {"enable_tidb_extension": True},
    "canal-json.tidb-extension.delete-only-handle-key": {
        "enable_tidb_extension": True,
        "delete_only_output_handle_key_columns": True,
    },
    "new-canal-json": {"profile": "new"},
    "new-canal-json.content-compatible": {"profile": "new", "content_compatible": True},
    "new-canal-json.tidb-extension": {"profile": "new", "enable_tidb_extension": True},
    "new-canal-json.tidb-extension.max-message-bytes-512.handle-key-only": {
        "profile": "new",
        "enable_tidb_extension": True,
        "max_message_bytes": 512,
        "large_message_handle_option": "handle-key-only",
    },
    "new-canal-json.tidb-extension.max-message-bytes-1024.handle-key-only": {
        "profile": "new",
        "enable_tidb_extension": True,
        "max_message_bytes": 1024,
        "large_message_handle_option": "handle-key-only",
    },
    "new-canal-json.tidb-extension.output-row-key": {
        "profile": "new",
        "enable_tidb_extension": True,
        "output_row_key": True,
    },
}
VARIANTS = {name: CanalJSONOptions(build_ts_ms=BUILD_TS_MS, **options) for name, options in _VARIANTS.items()}
FILES = sorted(
    (path, variant)
    for part in ("visible", "fuzz", "new")
    for variant in VARIANTS
    for path in (GOLDEN / part).glob(f"*.{variant}.jsonl")
)


@cache
def events_of(messages_file: Path) -> dict[int, GoldenEvent]:
    """Golden events by their number; columns know whether they are ZEROFILL."""
    if is_new(messages_file):
        return as_new(messages_file, events_of(classic_file(messages_file)))
    path = messages_file.with_name(messages_file.name.split(".")[0] + ".events.jsonl")
    with path.open(encoding="utf-8") as lines:
        raw = [json.loads(line) for line in lines]
    events = {event.seq: event for event in load_events(path) if hasattr(event, "seq")}
    zerofilled = {line["seq"]: _zerofilled(line) for line in raw if line["kind"] == "row"}
    return {seq: _with_zerofill(event, zerofilled.get(seq, set())) for seq, event in events.items()}


def _zerofilled(line: dict[str, list[dict[str, int | str]]]) -> set[str]:
    columns = line["columns"] + line["virtual_columns"]
    return {str(column["name"]) for column in columns if int(column["tidb_flag"]) & TIDB_ZEROFILL}


def _with_zerofill(event: GoldenEvent, names: set[str]) -> GoldenEvent:
    if not names or not isinstance(event, GoldenRow):
        return event

    def column(each: ColumnInfo) -> ColumnInfo:
        return replace(each, zerofill=each.name in names)

    table: TableInfo = replace(event.table, columns=tuple(column(each) for each in event.table.columns))
    return replace(event, table=table)


_LITERAL = rb'"(?:[^"\\]|\\.)*"'
_TYPES = re.compile(
    rb'"sqlType":\{(?P<codes>(?:' + _LITERAL + rb":-?\d+,?)*)\},"
    rb'"mysqlType":\{(?P<texts>(?:' + _LITERAL + rb":" + _LITERAL + rb",?)*)\}"
)
_CODE = re.compile(rb"(" + _LITERAL + rb"):-?\d+")
_TEXT = re.compile(rb"(" + _LITERAL + rb"):(" + _LITERAL + rb")")


def in_column_order(value: bytes) -> bytes:
    """A golden message with the members of ``mysqlType`` in the order of ``sqlType``.

    TiCDC writes them in the random order of a Go map. The bytes of the members are unchanged.
    """
    match = _TYPES.search(value)
    if match is None:
        return value
    texts = dict(_TEXT.findall(match["texts"]))
    names = _CODE.findall(match["codes"])
    assert sorted(texts) == sorted(names)
    ordered = b",".join(b"%b:%b" % (name, texts[name]) for name in names)
    return value[: match.start("texts")] + ordered + value[match.end("texts") :]


def row_message(**members: object) -> bytes:
    """A small insert with some members replaced, or omitted for ``...``."""
    row = {
        "database": "d", "table": "t", "pkNames": ["id"], "isDdl": False, "type": "INSERT", "es": 5, "ts": 6,
        "sql": "", "sqlType": {"id": 4, "v": 12}, "mysqlType": {"id": "int", "v": "varchar"},
        "data": [{"id": "1", "v": "a"}], "old": None,
    }  # fmt: skip
    return json.dumps({name: value for name, value in (row | members).items() if value != ...}).encode()
