"""A folder that mydumper or Dumpling wrote is a scenario: the script that sources its files.

The files run in the order in which TiDB Lightning loads them: databases, sequences, tables, views, then rows,
table by table and chunk by chunk. Source of the names: tidb ``lightning/pkg/mydump``, default file routes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.file_steps import LARGE_TABLE, DumpStep, StatementSpan, divide_inserts
from ticdc_producer.scenario.scenario_file import ScenarioStep, SQLStep
from ticdc_producer.scenario.sourced_files import MAX_BYTES, SourcedFile, read_content, sql_text
from ticdc_producer.scenario.sql.text.spelling import quoted_name

_DATABASE = "-schema-create"
_KINDS = ("placement-policy-create", _DATABASE, "-schema-sequence", "-schema", "-schema-view")
"""The ends of the names of files with definitions, in the order in which these run."""
_PROGRAMS = {
    "-schema-trigger": "triggers",
    "-schema-triggers": "triggers",
    "-schema-post": "stored procedures, stored functions and events",
}
_NAME = re.compile(
    r"(?P<database>[^.]+?)(?:\.(?P<table>.+?))??"
    rf"(?:(?P<kind>{'|'.join((*_KINDS, *_PROGRAMS))})|(?P<chunk>(?:\.\d+)*))"
    r"\.(?P<form>sql|csv|parquet|dat|json)(?:\.(?P<packed>\w+))?"
)
_READABLE = ("gz", "bz2", "zst", "lz4")
_IF_NOT_EXISTS = re.compile(r"\b(CREATE\s+(?:DATABASE|SCHEMA))\s+(?!(?:/\*!\d*\s*)?IF\s)", re.IGNORECASE)
_BEGIN = (
    "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO';",
    "SET foreign_key_checks = 0;",
)
"""A zero is kept in an AUTO_INCREMENT column, and as a date; a value that does not fit is an error."""


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    kind: str
    database: str
    table: str
    chunk: tuple[int, ...] = ()
    packed: str = ""

    @property
    def order(self) -> tuple[int, str, str, tuple[int, ...], str]:
        rank = _KINDS.index(self.kind) if self.kind in _KINDS else len(_KINDS)
        return rank, self.database, self.table, self.chunk, self.path.name


@dataclass
class DumpFolder:
    """The content of the folder of a dump.

    :param folder: as the user named it.
    :ivar steps: the script, and the rows of large tables, which Spark reads.
    :ivar sourced: the files that the script sources.
    :ivar programs: the files with stored programs, which are ignored, and the plural of what they have.
    """

    folder: Path
    steps: list[ScenarioStep] = field(default_factory=list)
    sourced: dict[tuple[str, int], SourcedFile] = field(default_factory=dict)
    programs: list[tuple[str, str]] = field(default_factory=list)
    _lines: list[str] = field(default_factory=lambda: [*_BEGIN])
    _lines_before: int = 0
    _nbytes: int = 0
    _databases: list[str] = field(default_factory=list)

    def add_source(self, file: _File, text: str) -> None:
        """Add a file to the script, in its database.

        :param text: its content.
        :raises ScenarioError: if the files of the script, unpacked, are too large.
        """
        self._nbytes += len(text)
        if self._nbytes > MAX_BYTES:
            raise _too_large(self.folder, "unpack the files of large tables")
        if file.kind == _DATABASE:
            self._databases.append(file.database)
        elif file.table:
            name = quoted_name(file.database)
            if file.database not in self._databases:
                self._databases.append(file.database)
                self._lines.append(f"CREATE DATABASE IF NOT EXISTS {name};")
            self._lines.append(f"USE {name};")
        self._lines.append(f"SOURCE {file.path.name}")
        self.sourced[str(self.folder), self._lines_before + self._line_count] = SourcedFile(
            str(file.path), text
        )

    @property
    def _line_count(self) -> int:
        """The number of lines of the script so far; a quoted name may have several."""
        return sum(line.count("\n") + 1 for line in self._lines)

    def add_rows(self, files: Sequence[_File]) -> None:
        """Add the rows of a large table, after the settings at the beginning of its files."""
        header, spans = b"", list[StatementSpan]()
        for file in files:
            if not file.path.stat().st_size:
                continue
            if file.packed:
                what = f"a packed file of a dump of more than {MAX_BYTES >> 20} MiB is not supported"
                raise UnsupportedSQL(what, file=str(file.path), hint="unpack it")
            settings, of_file = divide_inserts(file.path, file.table, spans)
            if spans and settings != header:
                what = "the settings at its beginning are not those of the first file of the table"
                raise UnsupportedSQL(what, file=str(file.path), hint="write the same settings")
            header, spans = settings, of_file
        self.add_source(files[0], header.decode("utf-8", "surrogateescape"))
        self.end_script()
        self.steps.append(DumpStep(table=(files[0].database, files[0].table), spans=tuple(spans)))

    def end_script(self) -> None:
        """Make a step of the lines of the script so far."""
        if self._lines:
            self.steps.append(SQLStep(text="\n".join(self._lines), line=self._lines_before + 1))
        self._lines_before += self._line_count
        self._lines = []


def is_dump_folder(folder: Path) -> bool:
    """Return whether a folder has the files of mydumper or Dumpling."""
    return folder.is_dir() and ((folder / "metadata").is_file() or any(folder.glob(f"*{_DATABASE}.sql*")))


def read_dump_folder(folder: Path) -> DumpFolder:
    """Read the definitions and the rows of a dump, but those of large tables.

    :raises ScenarioError: for a dump that is not complete, and files that are not SQL or cannot be read.
    """
    if (folder / "metadata.partial").is_file():
        what = "the dump is not complete: it has the file metadata.partial"
        raise ScenarioError(what, file=str(folder), hint="dump again")
    files = sorted(_files(folder), key=lambda file: file.order)
    if not files:
        raise ScenarioError("the folder of a dump has no .sql files", file=str(folder))
    dump = DumpFolder(folder)
    large = _large_tables(files)
    for (kind, database, table), group in groupby(files, lambda each: (each.kind, each.database, each.table)):
        of_table = [*group]
        if kind in _PROGRAMS:
            dump.programs += [(str(file.path), _PROGRAMS[kind]) for file in of_table]
        elif not kind and (database, table) in large:
            dump.add_rows(of_table)
        else:
            for file in of_table:
                dump.add_source(file, _text(file))
    dump.end_script()
    return dump


def _files(folder: Path) -> Iterator[_File]:
    inside = folder.resolve()
    for path in folder.iterdir():
        name = _NAME.fullmatch(path.name)
        if path.name.startswith(".") or path.is_dir() or path.suffix.lower() in (".bak", ".log"):
            continue
        if name is None or (name["kind"] is None and name["table"] is None):
            if ".sql" in path.name and "checksum" not in path.name and "metadata" not in path.name:
                what, hint = "the name is not one of mydumper or Dumpling", "move the file elsewhere"
                raise ScenarioError(what, file=str(path), hint=hint)
            continue
        _check_form(path, name["form"], name["packed"] or "")
        _check_inside(path, inside)
        yield _File(
            path=path,
            kind=name["kind"] or "",
            database=unquote(name["database"]),
            table=unquote(name["table"] or ""),
            chunk=tuple(int(number) for number in (name["chunk"] or "").split(".")[1:]),
            packed=name["packed"] or "",
        )


def _check_form(path: Path, form: str, packed: str) -> None:
    if form != "sql":
        hint = "dump with `--filetype sql`, without `--load-data` and `--csv`"
        raise UnsupportedSQL(f"a dump with .{form} files is not supported", file=str(path), hint=hint)
    if packed and packed not in _READABLE:
        hint = f"unpack it, or dump with one of {', '.join(_READABLE)}"
        raise UnsupportedSQL(f"a file with the ending .{packed} is not supported", file=str(path), hint=hint)


def _check_inside(path: Path, folder: Path) -> None:
    """Check that a file is in the folder, also through a symbolic link.

    :param folder: without symbolic links.
    """
    if not path.is_file():  # a link to nothing, or a pipe
        raise ScenarioError("this is not a file", file=str(path))
    if not path.resolve().is_relative_to(folder):
        what, hint = "a link to a file outside of the folder is not allowed", "copy the file there"
        raise ScenarioError(what, file=str(path), hint=hint)


def _large_tables(files: Sequence[_File]) -> set[tuple[str, str]]:
    """Return the tables whose rows Spark reads: none, unless the dump is too large for the SQL engine."""
    sizes: dict[tuple[str, str], int] = {}
    for file in files:
        key = (file.database, file.table) if not file.kind else ("", "")
        sizes[key] = sizes.get(key, 0) + file.path.stat().st_size
    if sum(sizes.values()) <= MAX_BYTES:
        return set()
    large = {key for key, size in sizes.items() if size >= LARGE_TABLE and key[1]}
    if sum(size for key, size in sizes.items() if key not in large) > MAX_BYTES:
        raise _too_large(files[0].path.parent)
    return large


def _too_large(folder: Path, hint: str = "") -> ScenarioError:
    what = f"definitions and small tables have more than {MAX_BYTES >> 20} MiB"
    return ScenarioError(what, file=str(folder), hint=hint)


def _text(file: _File) -> str:
    try:
        text = sql_text(read_content(file.path), str(file.path))
    except ScenarioError as error:
        raise error.at(str(file.path), 0) from None
    return _IF_NOT_EXISTS.sub(r"\1 IF NOT EXISTS ", text) if file.kind == _DATABASE else text
