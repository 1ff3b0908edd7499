"""The example of ``docs/protocols.md``: one change as a message of each protocol."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from tests.docs.craft_dump import dumped, printed
from tests.docs.markdown import code, table
from tests.protocols.encoding import framed, row_batch
from ticdc_producer.model.event import Message, Op, RowEvent, Value
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.protocols.canal.encoder import CanalEncoder
from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder
from ticdc_producer.protocols.craft.encoder import CraftEncoder
from ticdc_producer.protocols.debezium.encoder import DebeziumEncoder
from ticdc_producer.protocols.maxwell.encoder import MaxwellEncoder
from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder
from ticdc_producer.protocols.registry import decoder, wire_digests
from ticdc_producer.protocols.row_options import CanalJSONOptions, DebeziumOptions
from ticdc_producer.protocols.simple.encoder import SimpleEncoder
from ticdc_producer.scenario.dataframe import tables

TABLE = replace(
    tables(
        "CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(20), price DECIMAL(6,2),"
        " size ENUM('S','M','L'), tag VARBINARY(4))"
    )["orders"],
    update_ts=429918007904436225,
)
BEFORE: tuple[Value, ...] = (b"1", b"coat", b"79.90", b"2", b"\x00\xff")
AFTER: tuple[Value, ...] = (b"1", b"coat", b"59.90", b"2", None)
COMMIT_TS = 429918007904436226
_WIDTH = 108

# Debezium's schema, which follows the payload, would fill the page.
ENCODERS: dict[str, Encoder] = {
    "open-protocol": OpenEncoder(),
    "craft": CraftEncoder(),
    "canal-json": CanalJSONEncoder(CanalJSONOptions(enable_tidb_extension=True)),
    "debezium": DebeziumEncoder(DebeziumOptions(debezium_disable_schema=True)),
    "simple": SimpleEncoder(),
    "maxwell": MaxwellEncoder(),
    "canal": CanalEncoder(),
}


def message(encoder: Encoder) -> Message:
    """The update as one message."""
    rows = row_batch(Op.UPDATE, [BEFORE], [AFTER], commit_ts=[COMMIT_TS], table_id=TABLE.table_id, row_id=1)
    (sent,) = framed(encoder, [encoder.rows(TABLE, rows)])
    return sent


def printed_message(protocol: str) -> str:
    """Key and value in a readable form."""
    sent = message(ENCODERS[protocol])
    if protocol == "craft":
        return f"No key. The value, {sent.size} bytes:\n\n" + _block(
            "\n".join(printed(dumped(sent.value or b""))), ""
        )
    if protocol == "canal":
        return _fields(sent)
    parts = [_part("key", sent.key, protocol), _part("value", sent.value, protocol)]
    return "\n".join(parts)


def _fields(sent: Message) -> str:
    """The names and values of the fields of an entry, as its canonical form has them."""
    wire = wire_digests("canal", {})
    assert wire is not None
    ((_, entry),) = wire.format.events(None, sent.value)
    lines = _pretty(wire.format.form(entry or b""))
    return f"No key. The entry in the value of {sent.size} bytes:\n\n" + _block("\n".join(lines), "json")


def _part(name: str, data: bytes | None, protocol: str) -> str:
    if data is None:
        return f"No {name}.\n"
    if not data.endswith(b"}"):
        return f"The {name} is the bytes `{data.hex(' ', 8)}`.\n"
    text, before = data, ""
    if protocol == "open-protocol":
        start = len(data) - _json_length(data, name)
        before, text = data[:start].hex(" ", 8), data[start:]
    head = f"The {name}" + (f", after the bytes `{before}`" if before else "")
    return f"{head}:\n\n" + _block("\n".join(_pretty(json.loads(text))), "json")


def _json_length(data: bytes, part: str) -> int:
    """The length field before the only block."""
    (length,) = struct.unpack_from(">Q", data, 8 if part == "key" else 0)
    return int(length)


def _block(text: str, language: str) -> str:
    return f"```{language}\n{text}\n```\n"


def _pretty(value: object, indent: str = "", name: str = "", end: str = "") -> Iterator[str]:
    """JSON in which every object is on one line if it fits."""
    line = f"{indent}{name}{json.dumps(value, ensure_ascii=False)}{end}"
    if not isinstance(value, dict | list) or len(line) <= _WIDTH:
        yield line
        return
    if isinstance(value, list):
        yield f"{indent}{name}["
        for position, below in enumerate(value, start=1):
            yield from _pretty(below, indent + "  ", end="," if position < len(value) else "")
        yield f"{indent}]{end}"
        return
    yield f"{indent}{name}{{"
    last = len(value) - 1
    for position, (member, below) in enumerate(value.items()):
        yield from _pretty(below, indent + "  ", f"{json.dumps(member)}: ", "," if position < last else "")
    yield f"{indent}}}{end}"


_DECODED: dict[str, tuple[str, Encoder]] = {
    "Open Protocol": ("open-protocol", OpenEncoder()),
    "Craft": ("craft", CraftEncoder()),
    "Canal-JSON": ("canal-json", CanalJSONEncoder()),
    "Canal-JSON, `content-compatible`": (
        "canal-json",
        CanalJSONEncoder(CanalJSONOptions(content_compatible=True)),
    ),
    "Debezium": ("debezium", DebeziumEncoder()),
    "Debezium, `enable-tidb-extension`": (
        "debezium",
        DebeziumEncoder(DebeziumOptions(enable_tidb_extension=True)),
    ),
    "Debezium, `debezium-disable-schema`": (
        "debezium",
        DebeziumEncoder(DebeziumOptions(debezium_disable_schema=True)),
    ),
    "Maxwell": ("maxwell", MaxwellEncoder()),
    "Canal": ("canal", CanalEncoder()),
}


def decoded_columns() -> str:
    """What the decoders read from the message: commit-ts, type and old value of each column."""
    head = ["", "commit-ts", *(code(column.name) for column in TABLE.columns)]
    return table(head, [_row(name, *codec) for name, codec in _DECODED.items()])


def _row(name: str, protocol: str, encoder: Encoder) -> list[str]:
    sent = message(encoder)
    (event,) = decoder(protocol, {}).events(sent.key, sent.value)
    assert isinstance(event, RowEvent)
    by_name = {column.name: column for column in event.columns}
    cells = [
        _cell(by_name[column.name].type, (event.before or {}).get(column.name)) for column in TABLE.columns
    ]
    return [name, _time(event.commit_ts, encoder.fidelity), *cells]


def _cell(kind: str, value: Value) -> str:
    text = (
        ""
        if value is None
        else " " + code(value.decode("utf-8", "backslashreplace").replace("\x00", r"\x00"))
    )
    return f"{kind or '?'}{text}"


def _time(commit_ts: int, fidelity: Fidelity) -> str:
    assert commit_ts == fidelity.visible_commit_ts(COMMIT_TS)
    return fidelity.commit_ts


TABLES: dict[str, Callable[[], str]] = {
    **{f"change-{protocol}": partial(printed_message, protocol) for protocol in ENCODERS},
    "change-decoded": decoded_columns,
}
