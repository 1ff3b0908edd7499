"""The steps of large dumps, whose INSERTs Spark reads.

The file of a dump is mapped, and the pages that were read are released. One regular expression finds the ends
of statements; it knows quotes and comments only, because the text of an INSERT is parsed where it is read.
"""

from __future__ import annotations

import mmap
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model import tso
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning

LARGE_TABLE = 1 << 20
"""Spark reads the rows of a table with at least this number of bytes of INSERTs."""
SPAN_BYTES = 4 << 20
"""The size at which consecutive INSERTs into one table are divided."""
_COMMENT = rb"/\*(?:[^*]++|\*(?!/))*+\*/|\#[^\n]*+|--(?=\s)[^\n]*+"
_BLANK = rb"(?:\s++|/\*(?![!TM+])(?:[^*]++|\*(?!/))*+\*/|\#[^\n]*+|--(?=\s)[^\n]*+)*+"
_QUOTED = rb"'(?:[^'\\]++|\\.|'')*+'|\"(?:[^\"\\]++|\\.|\"\")*+\"|`[^`]*+`"
_STATEMENT = re.compile(rb"(?:[^'\"`;/\#-]++|" + _QUOTED + rb"|" + _COMMENT + rb"|[/-])*+;", re.DOTALL)
_NAME = rb"(`(?:[^`]|``)+`|[\w$]+)"
_INSERT = re.compile(
    _BLANK + rb"INSERT\s+INTO\s+" + _NAME + rb"(?:\s*\.\s*" + _NAME + rb")?\s", re.IGNORECASE
)
_DELIMITER = re.compile(_BLANK + rb"DELIMITER[ \t]+\S+[^\n]*(?:\n|\Z)", re.IGNORECASE)
_END_OF_DELIMITER = re.compile(rb"^[ \t]*DELIMITER[ \t]+;[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)

Name: TypeAlias = tuple[str, str]
"""Database, empty for the current one, and table."""


@dataclass(frozen=True, slots=True)
class StatementSpan:
    """Consecutive statements of a file.

    :param start: offset of the first byte.
    :param end: offset after the last byte.
    :param line: line of the first byte.
    :param statements: number of statements; 0 for SQL other than INSERT.
    :param file: the file; empty: the scenario's.
    :param bytes_before: number of bytes of the table's files before this one.
    """

    start: int
    end: int
    line: int
    statements: int = 0
    file: str = ""
    bytes_before: int = 0


@dataclass(frozen=True, slots=True)
class DumpPart:
    """Consecutive parts of a dump of one kind.

    :param table: the table that INSERTs fill; None for SQL that the engine runs.
    """

    table: Name | None
    spans: tuple[StatementSpan, ...]


def divide_dump(path: Path) -> Iterator[DumpPart]:
    """Divide a dump, in file order; an empty file, which cannot be mapped, has no parts."""
    if not path.stat().st_size:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        spans = [*statement_spans(data)]
    sizes: Counter[Name | None] = Counter()
    for table, span in spans:
        sizes[table] += span.end - span.start
    yield from _joined((table if sizes[table] >= LARGE_TABLE else None, span) for table, span in spans)


def divide_inserts(
    path: Path, table: str, before: Sequence[StatementSpan]
) -> tuple[bytes, list[StatementSpan]]:
    """Divide a file with INSERTs of one table, which settings may precede; it is not empty.

    :param before: the INSERTs of the table's files before this one.
    :return: the settings, and the INSERTs with those before them.
    :raises UnsupportedSQL: if the file has other statements.
    """
    spans, header = [*before], b""
    nbytes = before[-1].bytes_before + Path(before[-1].file).stat().st_size if before else 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for name, span in statement_spans(data):
            if name is None and len(spans) == len(before):
                header = data[span.start : span.end]
            elif name is not None and name[1] == table:
                spans.append(replace(span, file=str(path.absolute()), bytes_before=nbytes))
            elif name is not None or data[span.start : span.end].strip():
                what = f"a statement other than INSERT INTO {table} between the rows of a large table"
                hint = "move it elsewhere"
                raise UnsupportedSQL(f"{what} is not supported", file=str(path), line=span.line, hint=hint)
    return header, spans


def statement_spans(data: mmap.mmap) -> Iterator[tuple[Name | None, StatementSpan]]:
    """Yield the statements of a file, consecutive INSERTs into one table together."""
    table: Name | None = None
    start = position = count = 0
    line = first_line = 1
    for end, name in _statements(data):
        if name != table or position - start >= SPAN_BYTES:
            if position > start:
                yield table, StatementSpan(start, position, first_line, count)
                _release(data, position)
            table, start, first_line, count = name, position, line, 0
        count += name is not None
        line += data[position:end].count(b"\n")
        position = end
    if position > start:
        yield table, StatementSpan(start, position, first_line, count)


def _release(data: mmap.mmap, end: int) -> None:
    """Release the pages up to an offset, which otherwise count as memory of the process."""
    if hasattr(mmap, "MADV_DONTNEED"):  # not in Windows
        data.madvise(mmap.MADV_DONTNEED, 0, end)


def _statements(data: mmap.mmap) -> Iterator[tuple[int, Name | None]]:
    """Yield the end of each statement, and the table that it inserts into; None for other statements."""
    position, length = 0, len(data)
    while position < length:
        command = _DELIMITER.match(data, position)
        if command is not None:  # stored programs
            last = _END_OF_DELIMITER.search(data, command.end())
            position = last.end() if last else length
            yield position, None
            continue
        statement = _STATEMENT.match(data, position)
        insert = _INSERT.match(data, position) if statement else None
        position = statement.end() if statement else length
        yield position, _table(insert) if insert else None


def _table(match: re.Match[bytes]) -> Name:
    first, second = _plain(match[1]), _plain(match[2] or b"")
    return (first, second) if second else ("", first)


def _plain(name: bytes) -> str:
    text = name.decode("utf-8", "surrogateescape")
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def _joined(spans: Iterable[tuple[Name | None, StatementSpan]]) -> Iterator[DumpPart]:
    """Join neighbours of one kind; SQL that the engine runs becomes one span."""
    current: list[StatementSpan] = []
    kind: Name | None = None
    for table, span in spans:
        if current and table != kind:
            yield DumpPart(kind, tuple(current))
            current = []
        kind = table
        if table is None and current:
            current = [StatementSpan(current[0].start, span.end, current[0].line)]
        else:
            current.append(span)
    if current:
        yield DumpPart(kind, tuple(current))


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpStep:
    """INSERTs of one table, each of which is a transaction.

    :param table: database, empty for the current one, and name.
    :param spans: the positions of the INSERTs in the scenario file.
    """

    table: Name
    spans: tuple[StatementSpan, ...]
    commit_ts: int | None = None

    @property
    def line(self) -> int:
        """Line of the first INSERT."""
        return self.spans[0].line

    @property
    def statements(self) -> int:
        return sum(span.statements for span in self.spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpPlan:
    """A step of a dump, bound to its table and to its commits.

    :param file: the scenario file.
    :param partitioning: None for a table without partitions.
    :param mode: the session's settings.
    :param clock: the commit clock; None if ``NOW()`` is fixed.
    :param first_commit: commit number of the first INSERT.
    """

    file: str
    step: DumpStep
    table: TableInfo
    partitioning: Partitioning | None
    mode: SQLMode
    clock: CommitClock | None
    first_commit: int

    @property
    def line(self) -> int:
        """Line of the first INSERT."""
        return self.step.line

    @property
    def tables(self) -> tuple[TableInfo, ...]:
        """The table that the step fills."""
        return (self.table,)

    @property
    def what(self) -> str:
        """The step in words, as an engine that cannot run it names it."""
        return "a large dump"

    def commit_time(self, commit: int) -> datetime:
        """Return the time of a commit."""
        return self.mode.now if self.clock is None else tso.to_datetime(self.clock.ts(commit))
