"""Messages of Canal-JSON are checked against what the changefeed's options make TiCDC write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.verifier.changed_messages import findings_of

CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "no commitTs": lambda m: m["_tidb"].pop("commitTs"),
    "no _tidb": lambda m: m.pop("_tidb"),
    "a statement": lambda m: m.update(sql="INSERT INTO t VALUES (1)"),
}


@pytest.mark.parametrize(
    ("kind", "what"), [*(("row", what) for what in CHANGES), ("ddl", "no commitTs"), ("ddl", "no _tidb")]
)
def test_an_extended_message_without_its_extension_is_an_error(tmp_path: Path, kind: str, what: str) -> None:
    def changed(value: bytes) -> bytes:
        message = json.loads(value)
        if message["type"] != "TIDB_WATERMARK" and message["isDdl"] == (kind == "ddl"):
            CHANGES[what](message)
        return json.dumps(message).encode()

    options = "protocol=canal-json&enable-tidb-extension=true"
    assert not findings_of(tmp_path, options)
    assert findings_of(tmp_path, options, changed)["INV-FRAME"].severity == "error"


def test_without_the_extension_nothing_is_missing(tmp_path: Path) -> None:
    assert "INV-FRAME" not in findings_of(tmp_path, "protocol=canal-json")
