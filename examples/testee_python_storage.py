"""A testee of the storage level of `ticdc-producer conformance`: it reads the files of TiCDC's storage sink.

It decodes rows of Canal-JSON with testee_python.py. It reads a whole folder and sorts its rows by commit-ts.
A consumer that runs forever sorts the rows up to the checkpoint-ts of the file `metadata`.
"""

import base64
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import testee_python as decoder

Row: TypeAlias = dict[str, Any]
Change: TypeAlias = tuple[int, int, str, Row]
"""Commit-ts, rank within it, operation and row. The row of a DDL has the defaults of the columns."""

CREATE, DROP, TRUNCATE = 3, 4, 11
BYTES = ("BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB")
DEFAULTS = {"delimiter": ",", "quote": '"', "null": "\\N", "terminator": "\r\n"}


def schemas(table: Path) -> dict[int, Row]:
    """The schema files of a table by version."""
    files = [json.loads(path.read_text("utf-8")) for path in (table / "meta").glob("schema_*.json")]
    return {content["TableVersion"]: content for content in files}


def data_files(version: Path) -> list[Path]:
    """The files of a version in their order: by partition and date, then by number."""
    files = [path for path in version.rglob("CDC*") if path.suffix in (".csv", ".json")]
    return sorted(files, key=lambda path: (path.parent, int(re.sub(r"\D", "", path.stem))))


def records(text: str, options: Row) -> Iterator[list[str | None]]:
    """The fields of each line; None for NULL, which is never quoted."""
    given = {name: str(options.get(name, default)) for name, default in DEFAULTS.items()}
    delimiter, quote, end = (re.escape(given[name]) for name in ("delimiter", "quote", "terminator"))
    quoted = rf"{quote}((?:(?!{quote}).|{quote}{quote})*){quote}"
    plain = rf"((?:(?!{delimiter}|{end}).)*)"
    field = re.compile(rf"(?:{quoted}|{plain})({delimiter}|{end})", re.DOTALL)
    line: list[str | None] = []
    at = 0
    while at < len(text):
        match = field.match(text, at)
        if match is None:
            raise ValueError(f"no field at character {at}")
        inside, outside, after = match.groups()
        if inside is None:
            line.append(None if outside == given["null"] else outside)
        else:
            line.append(inside.replace(given["quote"] * 2, given["quote"]))
        if after == given["terminator"]:
            yield line
            line = []
        at = match.end()


def csv_rows(text: str, columns: list[Row], options: Row) -> Iterator[Change]:
    lines = records(text, options)
    if options.get("output-field-header"):
        next(lines, None)
    for op, _table, _schema, commit_ts, *fields in lines:
        if options.get("output-old-value"):
            del fields[0]  # whether the line is half of an update
        values = {
            column["ColumnName"]: value(field, column["ColumnType"], options)
            for column, field in zip(columns, fields, strict=True)
        }
        yield int(commit_ts or 0), op != "D", "delete" if op == "D" else "write", values


def value(field: str | None, kind: str, options: Row) -> Any:
    if field is None or kind not in BYTES:
        return field
    in_hex = options.get("binary-encoding-method") == "hex"
    return decoder.value_json(bytes.fromhex(field) if in_hex else base64.b64decode(field))


def canal_rows(text: str) -> Iterator[Change]:
    for line in text.split("\r\n"):
        for event in decoder.canal_json(line.encode()) if line else ():
            before, after = event["before"], event["after"]
            if before is not None:
                yield event["commit_ts"], 0, "delete", {**(after or {}), **before}
            if after is not None:
                yield event["commit_ts"], 1, "write", after


def changes(table: Path, request: Row) -> Iterator[Change]:
    """All changes of a table, in no order."""
    for version, schema in schemas(table).items():
        defaults = {column["ColumnName"]: column.get("ColumnDefault") for column in schema["TableColumns"]}
        yield version, 2, "empty" if schema["Type"] in (CREATE, DROP, TRUNCATE) else "alter", defaults
        for path in data_files(table / str(version)):
            text = path.read_bytes().decode()
            if request["protocol"] == "csv":
                yield from csv_rows(text, schema["TableColumns"], request["options"])
            else:
                yield from canal_rows(text)


def table_rows(table: Path, request: Row) -> list[Row]:
    """The rows of a table at the end."""
    rows: dict[str, Row] = {}
    newest = schemas(table)[max(schemas(table))]
    key = [column["ColumnName"] for column in newest["TableColumns"] if column.get("ColumnIsPk")]
    for _, _, op, row in sorted(changes(table, request), key=lambda change: change[:2]):
        name = json.dumps([row.get(column) for column in key])
        if op == "empty":
            rows.clear()
        elif op == "alter":  # columns that were added or dropped; other changes of columns are not known here
            rows = {name: {**row, **{c: old[c] for c in row if c in old}} for name, old in rows.items()}
        elif op == "delete":
            rows.pop(name, None)
        else:
            rows[name] = row
    return list(rows.values())


def answer(request: Row) -> Row:
    if request["level"] != "storage":
        return {"skipped": "not implemented"}
    folder = Path(request["folder"])
    try:
        tables = {name: table_rows(folder.joinpath(*name.split(".")), request) for name in request["tables"]}
    except (ValueError, KeyError, TypeError, IndexError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"tables": tables}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"hello": 1} if "hello" in request else {"case": request["case"], **answer(request)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
