"""Messages of Debezium are checked against what TiCDC writes, and their schemas against their payloads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.verifier.changed_messages import findings_of

OPTIONS = "protocol=debezium&output-ddl=true&enable-tidb-extension=true"
Change = Callable[[dict[str, Any]], object]


def _schema(path: str) -> Change:
    def change(message: dict[str, Any]) -> None:
        entry = message["schema"]
        for name in path.split("."):
            entry = next(child for child in entry["fields"] if child["field"] == name)
        entry["type"] = "int64" if entry["type"] == "string" else "string"

    return change


CHANGES: dict[str, Change] = {
    "a member that the schema lacks": lambda m: m["payload"].update(more=1),
    "a member of source that the schema lacks": lambda m: m["payload"]["source"].update(more=1),
    "text for a number": lambda m: m["payload"]["source"].update(ts_ms="x"),
    "another type in the schema of source": _schema("source.version"),
    "another type in the schema of ts_ms": _schema("ts_ms"),
    "another time than the commit-ts": lambda m: m["payload"]["source"].update(ts_ms=1),
    "no ts_ms": lambda m: m["payload"].pop("ts_ms"),
    "no version": lambda m: m["payload"]["source"].pop("version"),
    "text as server_id": lambda m: m["payload"]["source"].update(server_id="0"),
    "null as snapshot": lambda m: m["payload"]["source"].update(snapshot=None),
}
OF_DDL: dict[str, Change] = {
    "null as tableChanges": lambda m: m["payload"].update(tableChanges=None),
    "no tableChanges": lambda m: m["payload"].pop("tableChanges"),
    "other items": lambda m: m["schema"]["fields"][-1]["items"].update(type="string"),
    "no columns": lambda m: m["payload"]["tableChanges"][0]["table"].pop("columns"),
}


def _is(kind: str, message: dict[str, Any]) -> bool:
    op = message["payload"].get("op")
    return kind == ("ddl" if op is None else "resolved" if op == "m" else "row")


@pytest.mark.parametrize("profile", ["classic", "new"])
def test_what_ticdc_writes_is_no_finding(tmp_path: Path, profile: str) -> None:
    assert not findings_of(tmp_path, f"{OPTIONS}&profile={profile}")


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        *((kind, what) for what in CHANGES for kind in ("row", "ddl", "resolved")),
        *(("ddl", w) for w in OF_DDL),
    ],
)
def test_what_ticdc_does_not_write_is_an_error(tmp_path: Path, kind: str, what: str) -> None:
    def changed(value: bytes) -> bytes:
        message = json.loads(value)
        if _is(kind, message):
            (CHANGES | OF_DDL)[what](message)
        return json.dumps(message).encode()

    assert findings_of(tmp_path, OPTIONS, changed)["INV-FRAME"].severity == "error"


def test_a_number_of_many_digits_in_a_schema_is_an_error(tmp_path: Path) -> None:
    digits = b"1" * 5000

    def changed(value: bytes) -> bytes:
        return value.replace(b'"schema":{', b'"schema":{"x":%b,' % digits, 1)

    assert findings_of(tmp_path, OPTIONS, changed)["INV-FRAME"].severity == "error"
