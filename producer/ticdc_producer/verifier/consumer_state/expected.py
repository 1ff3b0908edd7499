"""The tables whose rows a golden folder expects, with their columns as the manifest tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ticdc_producer.errors import FolderError, StateError, nearest
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.table_form import column_of

_AGAIN = "write it again: ticdc-producer run SCENARIO --out DIR"


@dataclass(frozen=True, kw_only=True)
class ExpectedTable:
    """One table of the state.

    :param columns: those that are sent, in table order.
    :param key: names of the handle key's columns; empty where the table has none.
    :param virtual: names of the columns that are in no message.
    :param file: its rows, an object of column and canonical text per line.
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
    """All tables of the state, by name.

    :param manifest: the folder's.
    :param at: a time stamp (TSO) that the folder has the state of; None: the end.
    :raises FolderError: if the folder has no such state, or was written before states had columns.
    """
    place = "state" if at is None else f"state.at/{at}"
    forms = manifest.get("tables")
    if not isinstance(forms, Mapping):
        what = "the manifest does not tell the columns of the tables"
        raise FolderError(what, path=str(folder / "manifest.json"), hint=_AGAIN)
    if not (folder / place).is_dir():
        raise FolderError("the folder has no such state", path=str(folder / place), hint=_states(folder))
    found = [
        _table(folder / str(name), form) for name, form in forms.items() if str(Path(name).parent) == place
    ]
    return sorted(found, key=lambda table: table.qualified_name)


def _states(folder: Path) -> str:
    there = sorted(path.name for path in (folder / "state.at").glob("*"))
    if there:
        return f"it has: {', '.join(there)}"
    return (
        "run --out writes the state at the end, with --state-at TS also at others, with --only messages none"
    )


def _table(file: Path, form: Mapping[str, Any]) -> ExpectedTable:
    try:
        return ExpectedTable(
            schema=str(form["schema"]),
            name=str(form["table"]),
            columns=tuple(column_of(column) for column in form["columns"]),
            key=tuple(form["handle_key"]),
            virtual=tuple(form["virtual"]),
            file=file,
        )
    except (KeyError, TypeError, ValueError):
        what = "the manifest's columns of this table cannot be read"
        raise FolderError(what, path=str(file), hint=_AGAIN) from None


def chosen(
    tables: Sequence[ExpectedTable], patterns: Sequence[str], *, option: str = "--table"
) -> list[ExpectedTable]:
    """The tables that are asked for.

    :param option: what to name as the place in errors.
    :param patterns: ``SCHEMA.TABLE``, where ``*`` stands for any characters; none: all.
    :raises StateError: for a pattern that no table has.
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
