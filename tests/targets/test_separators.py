"""A run reads what it wrote, whatever texts its separators and NULL are, or refuses them before it writes."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import ticdc_producer
from tests.tiers import one_in
from ticdc_producer.errors import ChangefeedError

SQL = r"""CREATE DATABASE s; USE s;
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), n INT, b VARBINARY(9), e ENUM('I', '-'));
INSERT INTO t VALUES (1, 'a,b', NULL, 'a', 'I'), (2, '', 3, NULL, '-'), (3, 'x"y', 5, x'', NULL);
INSERT INTO t VALUES (4, 'a\\', 1, '\\', 'I'), (5, '\\', 1, '\r', 'I'), (6, '\r', 1, 'I', 'I');
INSERT INTO t VALUES (7, 'I', 1, 'I', 'I');
UPDATE t SET n = 9 WHERE id = 1;
DELETE FROM t WHERE id = 2;
"""
NULLS = [
    "I",
    "D",
    "U",
    "s",
    "t",
    "true",
    "false",
    "",
    "-",
    "\\N",
    "\\\\",
    "\\r",
    "\\n",
    "a\\\\",
    "YQ==",
    "{4}",
]
FIELDS = {"include-commit-ts": True, "output-old-value": True, "output-handle-key": True}
ENDS = ["}", "}}", "]}", "1}", "l}", "}\n", "{", "\r\n", "", "0", "}{"]


def _run(tmp_path: Path, sink: dict[str, object], query: str) -> None:
    file, out = tmp_path / "a.sql", tmp_path / "out"
    file.write_text(SQL, "utf-8")
    report = ticdc_producer.run(file, sink_uri=f"file://{out}?{query}", config={"sink": sink})
    assert report.ok, report.to_json()
    assert any(out.rglob("CDC*"))


@pytest.mark.parametrize(("null", "quote", "every"), one_in(3, product(NULLS, ["", '"'], [False, True])))
def test_a_text_of_null_in_csv(null: str, quote: str, every: bool, tmp_path: Path) -> None:
    fields = FIELDS if every else {}
    _run(tmp_path, {"csv": {"quote": quote, "null": null, **fields}}, "protocol=csv")


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("name", ['a"b', '"q"', "a,b", "a\\\\b", "I"])
def test_a_header_has_any_names(name: str, quote: str, tmp_path: Path) -> None:
    file, out = tmp_path / "a.sql", tmp_path / "out"
    file.write_text(
        f"CREATE DATABASE s; CREATE TABLE s.t (id INT, `{name}` INT); INSERT INTO s.t VALUES (1, 2);"
    )
    config = {"force-replicate": True, "sink": {"csv": {"output-field-header": True, "quote": quote}}}
    report = ticdc_producer.run(file, sink_uri=f"file://{out}?protocol=csv", config=config)
    assert report.ok, report.to_json()
    assert f"{name}\r\n".encode() in b"".join(path.read_bytes() for path in out.rglob("CDC*.csv"))


@pytest.mark.parametrize(("quote", "null"), [("", "a\\"), ("", "\\"), ("", "a\\\\\\")])
def test_a_text_of_null_that_escapes_the_delimiter_is_refused(quote: str, null: str, tmp_path: Path) -> None:
    with pytest.raises(ChangefeedError, match="ends with a backslash"):
        _run(tmp_path, {"csv": {"quote": quote, "null": null}}, "protocol=csv")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("end", "extension"), [*product(ENDS, [False, True])])
def test_a_terminator_of_canal_json(end: str, extension: bool, tmp_path: Path) -> None:
    query = f"protocol=canal-json&enable-tidb-extension={str(extension).lower()}"
    _run(tmp_path, {"terminator": end}, query)
