"""Masks an SQL dump: INSERTs value by value, and the literals of DDLs.

The dump is read in parts of a few MiB. Only its definitions run, so that the types of columns are known.
Comments are left out, because they may name servers and people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
from sqlglot import exp

from ticdc_producer.errors import ProducerError, RecordingError, ScenarioError
from ticdc_producer.masks.methods import masked_values
from ticdc_producer.masks.report import mask_notes
from ticdc_producer.masks.rules import ColumnMask, MaskRules
from ticdc_producer.masks.statements import StatementMasks
from ticdc_producer.masks.suggest import Suggestions
from ticdc_producer.masks.tables import MaskedTables
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.replica.versions import LENIENT
from ticdc_producer.scenario.file_steps import divide_dump
from ticdc_producer.scenario.sql.ddl import is_ddl
from ticdc_producer.scenario.sql.definition.create_text import value_text
from ticdc_producer.scenario.sql.dml.literal_rows import literal_insert, literal_texts
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.syntax import parse_ddl
from ticdc_producer.scenario.sql.syntax.statement import AlterTable, CreateIndex, CreateTable
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.statements import Statement, split_statements

_INSERTS = ("INSERT", "REPLACE")
_OTHERS = ("UPDATE", "DELETE", "SELECT", "CALL", "LOAD", "DELIMITER")
_SETTINGS = ("SET", "USE", "LOCK", "UNLOCK", "START", "BEGIN", "COMMIT")
_LITERALS_ONLY = "dump the data as INSERTs with literals, as mysqldump and Dumpling do"


@dataclass
class MaskedDump:
    """A dump that is masked statement by statement.

    :param suggestions: gets the columns with some values; then nothing is masked.
    :ivar tables: the definitions so far.
    """

    path: Path
    rules: MaskRules
    suggestions: Suggestions | None = None
    tables: MaskedTables = field(init=False)
    _session: Session = field(init=False)

    def __post_init__(self) -> None:
        self.tables, self._session = MaskedTables(self.rules), Session(file=str(self.path))

    def statements(self) -> Iterator[str]:
        """Yield the masked statements, each with its semicolon.

        :raises RecordingError: for a statement that cannot be masked, with its line; the text has no value.
        """
        with self.path.open("rb") as file:
            for span in (span for part in divide_dump(self.path) for span in part.spans):
                file.seek(span.start)
                text = file.read(span.end - span.start).decode("utf-8", "surrogateescape")
                try:
                    for statement in split_statements(text, span.line):
                        yield f"{self._masked(statement)};\n"
                except ScenarioError as error:
                    raise error.at(str(self.path), span.line) from None

    def notes(self) -> Iterator[str]:
        """Yield what is masked, and what stays in clear, after ``statements``."""
        return mask_notes(self.rules, self.tables.all_columns())

    def _masked(self, statement: Statement) -> str:
        where = f"{self.path}:{statement.line}"
        try:
            if statement.verb in _INSERTS:
                return self._insert(statement)
            if statement.verb in _SETTINGS:
                if (statement.verb, statement.word(1)) == ("SET", "PASSWORD"):
                    raise RecordingError("SET PASSWORD has a secret", hint="leave it out of the dump")
                self._session.run(statement.text, line=statement.line)
                return without_comments(statement)
            if is_ddl(statement.verb):
                return self._definition(statement, where)
        except RecordingError as error:
            raise RecordingError(error.what, where=error.where or where, hint=error.hint) from None
        except ProducerError:
            what = f"this {statement.verb} cannot be read, so it cannot be masked"
            raise RecordingError(what, where=where) from None
        verb = statement.verb if statement.verb in _OTHERS else "this statement"  # the word may be a value
        what = f"{verb} has values that cannot be masked"
        raise RecordingError(what, where=where, hint=_LITERALS_ONLY)

    def _definition(self, statement: Statement, where: str) -> str:
        self._session.run(statement.text, line=statement.line)
        schema, tree = self._session.database, parse_ddl(Cursor(statement))
        masks = StatementMasks(self.tables)
        text = without_comments(statement)
        masks.see_partitions(text, schema)
        if isinstance(tree, CreateTable | AlterTable | CreateIndex):
            database, name = tree.table.within(schema)
            self.tables.see_table(self._session.table(_joined(database, name), line=statement.line))
        return masks.masked(text, schema, where)

    def _insert(self, statement: Statement) -> str:
        """Return an INSERT whose masked columns have other literals; the others stay as they are."""
        table, columns, values = self.rows_of(statement)
        if self.suggestions is not None:
            for number, column in enumerate(columns):
                some = canonical_values(column, [row[number] for row in values])
                self.suggestions.see(table.schema, table.name, column, some)
                if self.tables.is_unique(table.schema, table.name, column.name):
                    self.suggestions.unique.add((table.schema, table.name, column.name))
        masks = [self.tables.mask_of(table.schema, table.name, column) for column in columns]
        if not any(masks) and not _may_have_comments(statement):
            return statement.text
        head, texts = literal_texts(statement.shape, statement.literals)
        for number, (column, mask) in enumerate(zip(columns, masks, strict=True)):
            if mask is not None:
                literals = _masked_literals(mask, column, [row[number] for row in values], self.tables, table)
                for row, literal in zip(texts, literals, strict=True):
                    row[number] = literal
        rows = ",\n".join(f"({', '.join(row)})" for row in texts)
        return f"{head.rstrip()}\n{rows}"

    def rows_of(
        self, statement: Statement
    ) -> tuple[TableInfo, list[ColumnInfo], Sequence[Sequence[SQLValue]]]:
        """Return the table, the columns and the rows of an INSERT.

        :raises RecordingError: for an INSERT with a value that is not a literal.
        """
        parsed = literal_insert(statement.shape, len(statement.literals))
        if parsed is None:
            raise RecordingError(
                f"this {statement.verb} has a value that is not a literal", hint=_LITERALS_ONLY
            )
        table, names = self._target(parsed.tree)
        if not table.visible_offsets.keys() >= {*map(str.lower, names)}:
            raise RecordingError(f"this {statement.verb} names a column that {table.qualified_name} lacks")
        columns = [table.columns[table.visible_offsets[name.lower()]] for name in names]
        parsed.fill(statement.literals)
        rows: Sequence[Sequence[SQLValue]] = parsed.tree.args["expression"].args["rows"]
        if any(len(row) != len(columns) for row in rows):
            raise RecordingError(f"this {statement.verb} has a row with more or fewer values than columns")
        return table, columns, rows

    def _target(self, tree: exp.Expr) -> tuple[TableInfo, list[str]]:
        """Return the table of an INSERT, and the names of its columns."""
        target = tree.this
        node = target.this if isinstance(target, exp.Schema) else target
        table = self._session.table(_joined(*(part.name for part in node.parts)), line=1)
        if isinstance(target, exp.Schema):
            return table, [column.name for column in target.expressions]
        return table, [column.name for column in table.columns if not column.hidden]


def _may_have_comments(statement: Statement) -> bool:
    return any(mark in statement.sql for mark in ("/*", "--", "#"))


def without_comments(statement: Statement) -> str:
    """Return the text of a statement without its comments; executable ones stay where it has no others."""
    if not _may_have_comments(statement):
        return statement.text
    text, end, has_comments = "", 0, False
    for token in statement.tokens:
        between = statement.sql[end : token.start]
        has_comments |= bool(between.strip())
        text += between if between.isspace() or not between else " "
        text += statement.sql[token.start : (end := token.end + 1)]
    has_comments |= bool(statement.sql[end:].strip())
    return text.strip() if has_comments else statement.text


def _joined(*names: str) -> str:
    return ".".join(filter(None, names))


def canonical_values(column: ColumnInfo, values: Sequence[SQLValue]) -> pa.Array:
    """Return the values that a column stores for those of INSERTs."""
    return pa.array([coerce(column, value, LENIENT) for value in values], pa.binary())


def _masked_literals(
    mask: ColumnMask,
    column: ColumnInfo,
    values: Sequence[SQLValue],
    tables: MaskedTables,
    table: TableInfo,
) -> list[str]:
    masked = masked_values(mask, column, canonical_values(column, values))
    if masked.ambiguous.any():
        tables.see_ambiguous(mask, table.schema, table.name, column.name)
    if column.elements:
        column = replace(column, elements=StatementMasks.members(mask, column.elements))
    return [value_text(column, value) for value in masked.values.to_pylist()]
