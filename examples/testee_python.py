"""A testee of `ticdc-producer conformance`: a decoder as a Python consumer may have, without any libraries.

It decodes Open Protocol and Canal-JSON, and skips the other protocols and compressed values.
testee_python.failures lists the cases that it is known to fail.
"""

import base64
import json
import re
import sys
from decimal import Decimal
from typing import Any, TypeAlias

Event: TypeAlias = dict[str, Any]

BINARY = 1
STRINGS, LOBS, FLOATS = (15, 253, 254), (249, 250, 251, 252), (4, 5)
GO_LITERAL = re.compile(r"\\x(..)|\\u(....)|\\U(........)|\\(.)|([^\\]+)", re.DOTALL)
GO_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
DDL_TYPES = {"CREATE": 3, "RENAME": 14, "ERASE": 4, "TRUNCATE": 11}


def value_json(content: bytes) -> Any:
    """A value in the form of answers: text if it is UTF-8."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(content).decode()}


# Open Protocol: a version of 8 bytes; key and value are blocks of JSON, each after its length.


def blocks(part: bytes, start: int) -> list[bytes]:
    contents = []
    while start < len(part):
        length = int.from_bytes(part[start : start + 8], "big")
        start += 8 + length
        if length > len(part) or start > len(part):
            raise ValueError("a block is truncated")
        contents.append(part[start - length : start])
    return contents


def open_protocol(key: bytes, value: bytes) -> list[Event]:
    if int.from_bytes(key[:8], "big") != 1:
        raise ValueError("version 1 of Open Protocol was expected")
    keys, values = blocks(key, 8), blocks(value, 0)
    if values == [b""]:
        values = []  # a resolved event has no value, or an empty one
    heads = [json.loads(key) for key in keys]
    if len(values) != sum(head["t"] != 3 for head in heads):
        raise ValueError("key and value hold different numbers of events")
    return [open_event(head, values.pop(0) if head["t"] != 3 else b"") for head in heads]


def open_event(head: dict[str, Any], content: bytes) -> Event:
    if head["t"] == 3:
        return {"kind": "resolved", "commit_ts": head["ts"]}
    event = {"commit_ts": head["ts"], "schema": head.get("scm", ""), "table": head.get("tbl", "")}
    value = json.loads(content)
    if head["t"] == 2:
        return {**event, "kind": "ddl", "query": value["q"], "ddl_type": value["t"]}
    if head["t"] != 1:
        raise ValueError(f"unknown type of event: {head['t']}")
    new, old = value.get("u"), value.get("p")
    op = "delete" if "d" in value else "insert" if old is None else "update"
    images = (value["d"], None) if op == "delete" else (old, new)
    before, after = (None if image is None else {c: open_value(image[c]) for c in image} for image in images)
    event |= {"kind": "row", "op": op, "before": before, "after": after, "table_id": head.get("ptn", 0)}
    return {**event, "handle_key_only": bool(head.get("ohk") or head.get("ccl"))}


def open_value(column: dict[str, Any]) -> Any:
    code, value, flag = column["t"], column["v"], column.get("f", 0)
    if value is None:
        return None
    if code in LOBS:
        return value_json(base64.b64decode(value, validate=True))
    if code in STRINGS and flag & BINARY:
        return value_json(go_bytes(value))
    if code in FLOATS:
        return format(Decimal(repr(float(value))), "f")
    return str(value)


def go_bytes(literal: str) -> bytes:
    """The bytes of a Go string literal: text as UTF-8, single bytes as \\x and two digits."""
    content = b""
    for byte, four, eight, single, text in GO_LITERAL.findall(literal):
        rune = four or eight
        content += bytes.fromhex(byte) if byte else chr(int(rune, 16)).encode() if rune else b""
        content += GO_ESCAPES.get(single, single).encode() + text.encode()
    return content


# Canal-JSON: one JSON object; values are strings, and each byte of binary values is one character.


def canal_json(value: bytes) -> list[Event]:
    body = json.loads(value)
    extension = body.get("_tidb") or {}
    commit_ts = extension.get("commitTs") or body["es"] << 18
    if body["type"] == "TIDB_WATERMARK":
        return [{"kind": "resolved", "commit_ts": extension["watermarkTs"]}]
    event = {"commit_ts": commit_ts, "schema": body["database"], "table": body["table"]}
    if body["isDdl"]:
        return [{**event, "kind": "ddl", "query": body["sql"], "ddl_type": DDL_TYPES.get(body["type"], 0)}]
    op = {"INSERT": "insert", "UPDATE": "update", "DELETE": "delete"}[body["type"]]
    types = body["mysqlType"]
    row = canal_image(body["data"][0], types)
    images = {"before": None, "after": row}
    if op == "update":
        images["before"] = canal_image(body["old"][0], types)
    elif op == "delete":
        images = {"before": row, "after": None}
    handle_key_only = bool(extension.get("onlyHandleKey"))
    return [{**event, "kind": "row", "op": op, **images, "handle_key_only": handle_key_only}]


def canal_image(texts: dict[str, Any], types: dict[str, str]) -> dict[str, Any]:
    is_bytes = {name: kind.partition("(")[0].endswith(("blob", "binary")) for name, kind in types.items()}
    return {
        name: None if text is None else value_json(text.encode("latin-1")) if is_bytes[name] else text
        for name, text in texts.items()
    }


def answer(request: dict[str, Any]) -> dict[str, Any]:
    compressed = request["options"].get("large-message-handle-compression", "none") != "none"
    if request["protocol"] not in ("open-protocol", "canal-json") or compressed or "claims" in request:
        return {"skipped": "not implemented"}
    key, value = (base64.b64decode(request[part] or "") for part in ("key", "value"))
    try:
        events = open_protocol(key, value) if request["protocol"] == "open-protocol" else canal_json(value)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"events": events}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"hello": 1} if "hello" in request else {"case": request["case"], **answer(request)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
