"""The parsers of other projects, and what each makes of a message.

A parser returns rows, without the rest of the message. ``restored`` puts its rows into the message, so that
our decoder reads the values that the parser has. Members that a parser does not return are not compared.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tests.peers.software import CDC_FORMATS, PROJECT
from ticdc_producer.conformance.wire import ProtocolName

Body: TypeAlias = dict[str, Any]
"""The value of a message as JSON."""
Row: TypeAlias = dict[str, Any]
Restore: TypeAlias = Callable[[Body, Any], Body | None]
"""Body and content of the parser → body with its rows; None if it has no row."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """A parser, as ``Software`` runs it.

    :param name: of the parser in its project; another one without the schemas of Debezium's messages.
    :param applies: whether it returns changes of a table; otherwise it only reads messages.
    :param old_rows: whether an update has the row from before it.
    """

    name: str
    protocol: ProtocolName
    restored: Restore
    project: Path = PROJECT
    without_schema: str = ""
    applies: bool = True
    old_rows: bool = True

    def parser(self, options: Mapping[str, object]) -> str:
        """Return the parser that a user takes for the options of a changefeed."""
        without = options.get("debezium-disable-schema") and self.without_schema
        return str(without or self.name)

    def columns(self, value: bytes | None) -> str | list[str]:
        """Return the columns of a message's row, all declared as strings."""
        names = _names(value) or ["id"]
        if self.project == CDC_FORMATS:
            return names
        return ", ".join(f"`{name.replace('`', '``')}` STRING" for name in names)


def body_of(value: bytes | None) -> Body:
    """Return the value of a message.

    :raises ValueError: if it is not a JSON object.
    """
    text = (value or b"").decode().lstrip()
    # A message of Maxwell's may have several objects. The parsers read the first one.
    body, _ = json.JSONDecoder().raw_decode(text)
    if not isinstance(body, dict):
        raise ValueError("not an object")
    return body


def _names(value: bytes | None) -> list[str]:
    try:
        body = body_of(value)
    except ValueError:
        return []
    data = body.get("data")
    image = data[0] if isinstance(data, list) and data else data
    payload = body.get("payload")
    if isinstance(payload, dict):
        image = payload.get("after") or payload.get("before")
    return list(image) if isinstance(image, dict) else []


def _images(changes: Sequence[Mapping[str, Any]]) -> tuple[Row | None, Row | None]:
    """Return the old and the new row of the changes that belong to one event."""
    before = next((change["row"] for change in changes if change["kind"].startswith("-")), None)
    after = next((change["row"] for change in reversed(changes) if change["kind"].startswith("+")), None)
    return before, after


def _only(row: Row, names: Mapping[str, Any]) -> Row:
    """Return the columns of a row that the message has."""
    return {name: row[name] for name in names if name in row}


def canal(body: Body, changes: Any) -> Body | None:
    """Restore a Canal-JSON message."""
    before, after = _images(changes)
    data, old = after or before, {}
    if data is None:
        return None
    kind = "UPDATE" if before and after else "INSERT" if after else "DELETE"
    if kind == "UPDATE" and before is not None:
        old = {"old": [_only(before, (body.get("old") or [before])[0])]}
    return {**body, "type": kind, "data": [_only(data, body["data"][0])], **old}


_MEMBER = re.compile("'((?:[^']|'')*)'")


def paimon_canal(body: Body, changes: Any) -> Body | None:
    """Restore a Canal-JSON message from Paimon's rows, which have the members of ENUM and SET as texts."""
    types: Mapping[str, str] = body.get("mysqlType") or {}
    with_numbers = [
        {**change, "row": {name: _number(types.get(name, ""), text) for name, text in change["row"].items()}}
        for change in changes
    ]
    return canal(body, with_numbers)


def _number(kind: str, text: str | None) -> str | None:
    members = _MEMBER.findall(kind)
    if text is None or not members:
        return text
    if kind.startswith("enum"):
        return str(members.index(text) + 1) if text in members else text
    return str(sum(1 << members.index(member) for member in text.split(",") if member in members))


def flat_message(body: Body, message: Any) -> Body | None:
    """Restore a Canal-JSON message from canal's class, which has all of its members."""
    extension = {"_tidb": body["_tidb"]} if "_tidb" in body else {}
    return {**{name: value for name, value in message.items() if name in body}, **extension}


def maxwell(body: Body, changes: Any) -> Body | None:
    """Restore a Maxwell message."""
    before, after = _images(changes)
    data, old = after or before, {}
    if data is None:
        return None
    kind = "update" if before and after else "insert" if after else "delete"
    if kind == "update" and before is not None:
        old = {"old": _like(before, body.get("old") or before)}
    return {**body, "type": kind, "data": _like(data, body["data"]), **old}


def debezium(body: Body, changes: Any) -> Body | None:
    """Restore Debezium's message from the changes of a table whose columns are strings."""
    before, after = _images(changes)
    op = "u" if before and after else "c" if after else "d" if before else ""
    return _envelope(body, op, before, after) if op else None


def connect(body: Body, content: Any) -> Body | None:
    """Restore Debezium's message from Kafka Connect's. Its ``source`` lacks members that the schema lacks."""
    payload = _payload(content)
    if "op" not in body["payload"]:  # a DDL
        return {**body, "payload": {**_like(payload, body["payload"]), "source": body["payload"]["source"]}}
    return _envelope(body, str(payload.get("op")), payload.get("before"), payload.get("after"))


def unwrapped(body: Body, content: Any) -> Body | None:
    """Restore Debezium's message from the flat row of a transform."""
    row = _payload(content)
    cdc = row.get("_cdc") or {}
    deleted = row.get("__deleted") == "true" or cdc.get("op") == "D"
    op = "d" if deleted else body["payload"]["op"]
    before, after = (row, None) if deleted else (body["payload"].get("before"), row)
    return _envelope(body, op, before, after)


def _payload(content: Any) -> Row:
    value = json.loads(b64decode(content["value"]))
    payload: Row = value.get("payload", value)
    return payload


def _envelope(body: Body, op: str, before: Row | None, after: Row | None) -> Body:
    payload = body["payload"]
    images = {"before": before, "after": after}
    restored = {name: row and _like(row, payload.get(name) or row) for name, row in images.items()}
    sent = {name: row for name, row in restored.items() if name in payload or row is not None}
    return {**body, "payload": {**payload, "op": op, **sent}}


def _like(row: Row, sent: Row) -> Row:
    """Return the members that were sent, each with the JSON type of the value that was sent."""
    return {name: _typed(row[name], value) for name, value in sent.items() if name in row}


def _typed(value: Any, sent: Any) -> Any:
    if not isinstance(value, str) or isinstance(sent, str) or sent is None:
        return value
    if isinstance(sent, bool):
        return value == "true"
    return int(value) if isinstance(sent, int) else float(value)


_FORMATS = (
    Format(name="canal-flat-message", protocol="canal-json", restored=flat_message, applies=False),
    Format(name="flink-canal-json", protocol="canal-json", restored=canal),
    Format(name="flink-canal-json-lenient", protocol="canal-json", restored=canal),
    Format(name="flink-debezium-json", protocol="debezium", restored=debezium),
    Format(name="flink-debezium-json-lenient", protocol="debezium", restored=debezium),
    Format(name="flink-maxwell-json", protocol="maxwell", restored=maxwell),
    Format(
        name="connect-json",
        protocol="debezium",
        restored=connect,
        without_schema="connect-json-without-schemas",
        applies=False,
    ),
    Format(name="debezium-unwrap", protocol="debezium", restored=unwrapped, old_rows=False),
    Format(name="iceberg-debezium", protocol="debezium", restored=unwrapped, old_rows=False),
    Format(name="paimon-canal", protocol="canal-json", restored=paimon_canal, project=CDC_FORMATS),
    Format(name="paimon-maxwell", protocol="maxwell", restored=maxwell, project=CDC_FORMATS),
    Format(name="seatunnel-canal", protocol="canal-json", restored=canal, project=CDC_FORMATS),
    Format(name="seatunnel-debezium", protocol="debezium", restored=debezium, project=CDC_FORMATS),
    Format(name="seatunnel-maxwell", protocol="maxwell", restored=maxwell, project=CDC_FORMATS),
)
FORMATS: Mapping[str, Format] = {parser.name: parser for parser in _FORMATS}
