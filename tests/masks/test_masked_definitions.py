"""Definitions that change, and literals of DDLs: what is refused so that no value stays in clear."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.masks.test_masked_recordings import SECRET, T, rules
from tests.recording.test_record import golden
from ticdc_producer import ProducerError, record
from ticdc_producer.masks.rules import KEY_VARIABLE


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, SECRET)


TEXTS = f"{T}, a VARCHAR(9)); INSERT INTO t VALUES (1, 'Alice')"
AGAIN = "test.t.a has definitions that are masked differently"


@pytest.mark.parametrize(
    ("sql", "rule", "what"),
    [
        (f"{TEXTS}; DROP TABLE t; {T}, a INT)", "types: [varchar]", AGAIN),
        (f"{TEXTS}; ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN a INT", "columns: [a]", AGAIN),
        (f"{TEXTS}; DROP TABLE t; {T}, a VARBINARY(9))", "columns: [a]", AGAIN),
        (f"{T}, b INT, a INT AS (b) STORED); DROP TABLE t; {T}, b INT, a INT)", "columns: [b]",
         "test.t has masked columns, and another that is generated at some times only"),
    ],
)  # fmt: skip
def test_definitions_of_a_name_that_are_masked_differently_are_refused(
    tmp_path: Path, sql: str, rule: str, what: str
) -> None:
    folder = golden(tmp_path / "golden", "canal-json&enable-tidb-extension=true", sql)
    with pytest.raises(ProducerError, match=what) as error:
        record(
            folder=folder, out=tmp_path / "r", mask=rules(tmp_path, f"rules: [{{{rule}, method: format}}]")
        )
    assert "Alice" not in str(error.value)
    assert not (tmp_path / "r").exists()


def test_definitions_of_a_name_that_are_masked_alike_are_recorded(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", "open-protocol", f"{TEXTS}; DROP TABLE t; {T}, a VARCHAR(20))")
    assert record(
        folder=folder, out=tmp_path / "r", mask=rules(tmp_path, "rules: [{columns: [a], method: format}]")
    )
