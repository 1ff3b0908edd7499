"""The tables whose rows a golden folder expects, with their columns from its manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ticdc_producer.errors import FolderError, StateError, nearest
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.table_json import column_from_json

_WRITE_AGAIN = "write it again: ticdc-producer run SCENARIO --out DIR"


@dataclass(frozen=True, kw_only=True)
class ExpectedTable:
    """One table of the state.

    :param columns: the columns that are sent, in table order.
    :param key: names of the handle key's columns; empty without a handle key.
    :param virtual: names of the columns that are not sent.
    :param file: its rows, one JSON object of column name and canonical text per line.
    """

    schema: str
    name: str
    columns: tuple[ColumnInfo, ...]
    key: tuple[str, ...]
    virtual: tuple[str, ...]
    file: Path

    @property
    def qualified_name(self) -> str:
        return f"{self.schema}.{self.name}"


def expected_tables(folder: Path, manifest: Mapping[str, Any], at: int | None = None) -> list[ExpectedTable]:
    """All tables of a state, sorted by name.

    :param manifest: the manifest of the folder.
    :param at: time stamp (TSO) of a state in the folder; None: the end.
    :raises FolderError: if the folder has no such state, or its manifest has no columns.
    """
    state = "state" if at is None else f"state.at/{at}"
    tables = manifest.get("tables")
    if not isinstance(tables, Mapping):
        what = "the manifest lacks the columns of the tables"
        raise FolderError(what, path=str(folder / "manifest.json"), hint=_WRITE_AGAIN)
    if not (folder / state).is_dir():
        raise FolderError("the folder has no such state", path=str(folder / state), hint=_states(folder))
    found = [
        _table(folder / str(name), table) for name, table in tables.items() if str(Path(name).parent) == state
    ]
    return sorted(found, key=lambda table: table.qualified_name)


def _states(folder: Path) -> str:
    existing = sorted(path.name for path in (folder / "state.at").glob("*"))
    if existing:
        return f"it has: {', '.join(existing)}"
    return (
        "run --out writes the state at the end, and with --state-at TS at others; with --only messages none"
    )


def _table(file: Path, content: Mapping[str, Any]) -> ExpectedTable:
    try:
        return ExpectedTable(
            schema=str(content["schema"]),
            name=str(content["table"]),
            columns=tuple(column_from_json(column) for column in content["columns"]),
            key=tuple(content["handle_key"]),
            virtual=tuple(content["virtual"]),
            file=file,
        )
    except (KeyError, TypeError, ValueError):
        what = "the manifest's columns of this table cannot be read"
        raise FolderError(what, path=str(file), hint=_WRITE_AGAIN) from None


def select_tables(
    tables: Sequence[ExpectedTable], patterns: Sequence[str], *, option: str = "--table"
) -> list[ExpectedTable]:
    """The tables whose names match one of the patterns.

    :param patterns: ``SCHEMA.TABLE``, in which ``*`` matches any characters; empty: all tables.
    :param option: the command line option to name in errors.
    :raises StateError: for a pattern that matches no table.
    """
    names = [table.qualified_name for table in tables]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            what = f"no table {pattern!r} is expected"
            raise StateError(what, source=option, hint=nearest(pattern, names))
    return [
        table
        for table in tables
        if not patterns or any(fnmatchcase(table.qualified_name, pattern) for pattern in patterns)
    ]
