"""Masks the literals of DDL statements: DEFAULTs, members of ENUM and SET, comments.

Literals in expressions and in the bounds of partitions cannot be masked: such a statement is refused if it is
about a masked column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import pyarrow as pa
from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from ticdc_producer.errors import ProducerError, RecordingError
from ticdc_producer.masks.methods import masked_values
from ticdc_producer.masks.rules import ColumnMask
from ticdc_producer.masks.tables import MaskedTables
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.replica.versions import LENIENT
from ticdc_producer.scenario.sql.definition.create_text import column_type_text, value_text
from ticdc_producer.scenario.sql.definition.table_definition import draft_table, make_table
from ticdc_producer.scenario.sql.restore.statement import print_statement
from ticdc_producer.scenario.sql.syntax import parse_ddl
from ticdc_producer.scenario.sql.syntax.alter import AlterColumn, Setting, read_element
from ticdc_producer.scenario.sql.syntax.column import Column, Default, GeneratedAs
from ticdc_producer.scenario.sql.syntax.key import Check, ForeignKey, KeyPart, References
from ticdc_producer.scenario.sql.syntax.names import TableName
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy, PartitionMethod
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions
from ticdc_producer.scenario.sql.syntax.statement import DDL, AlterTable, CreateIndex, CreateTable
from ticdc_producer.scenario.sql.syntax.view import CreateView
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText
from ticdc_producer.scenario.sql.text.dialect import TiDB, TokenType
from ticdc_producer.scenario.sql.text.statements import Statement, split_statements

_CHARSET = "utf8mb4", "utf8mb4_bin"
_TEXT = ColumnInfo(name="", type=MySQLType.VARCHAR, charset="utf8mb4", collation="utf8mb4_bin")
_FREE_TEXTS = ("COMMENT", "CONNECTION", "PASSWORD", "SECONDARY_ENGINE_ATTRIBUTE")
_STRINGS = (TokenType.STRING, TokenType.NATIONAL_STRING)
_LITERALS = (*_STRINGS, TokenType.NUMBER, TokenType.HEX_STRING, TokenType.BIT_STRING)
_Part = TypeVar("_Part", Column, PartitionBy)
_PARTITION_HINT = "keep the column: masked values have other partitions"
_EXPRESSION_HINT = "`expressions: keep` in the rules lets literals of expressions stay"


@dataclass(frozen=True)
class StatementMasks:
    """Masks the literals of statements.

    :param text_mask: of comments.
    """

    tables: MaskedTables
    text_mask: ColumnMask

    def masked(self, query: str, schema: str, where: str) -> str:
        """Return a DDL whose literals are masked; it stays as it is if it is about no masked column.

        :param schema: the current database.
        :param where: the place of the statement, for errors.
        :raises RecordingError: if it has literals that cannot be masked; the text has none of them.
        """
        return "; ".join(self._statement(statement, schema, where) for statement in split_statements(query))

    def see_partitions(self, query: str, schema: str) -> None:
        """Note by what the tables of a DDL are partitioned, so that later bounds may be known as unmasked."""
        upper = query.upper()
        self.tables.moves |= any(word in upper for word in ("RENAME", "LIKE"))
        if "PARTITION" not in upper:
            return
        try:
            trees = [parse_ddl(Cursor(statement)) for statement in split_statements(query)]
        except ProducerError:  # ``masked`` refuses it
            return
        for tree in trees:
            if isinstance(tree, CreateTable | AlterTable):
                for partitions in _parts(tree, PartitionBy):
                    words = {word for method in _methods(partitions) for word in _words_of(method)}
                    self.tables.see_partitions(*tree.table.within(schema), words)

    def _statement(self, statement: Statement, schema: str, where: str) -> str:
        try:
            tree = parse_ddl(Cursor(statement))
        except ProducerError:
            hint = "leave its table out with `table`"
            raise RecordingError(
                "a DDL cannot be read, so that its literals cannot be masked", where=where, hint=hint
            ).about("table") from None
        try:
            masked = _OfTable(self, tree, schema).masked()
            return statement.text if masked is None else print_statement(masked)
        except RecordingError as error:
            raise RecordingError(error.what, where=where, hint=error.hint) from None
        except ProducerError:
            what = "a DDL with literals of masked columns cannot be printed"
            raise RecordingError(what, where=where) from None

    @staticmethod
    def members(mask: ColumnMask, members: tuple[str, ...]) -> tuple[str, ...]:
        """Return the masked members of an ENUM or SET, which keep their form with every method.

        :raises RecordingError: if two of them became equal.
        """
        texts = replace(mask, method="format")
        values = pa.array([member.encode() for member in members], pa.binary())
        masked = tuple(value.decode() for value in masked_values(texts, _TEXT, values).values.to_pylist())
        if len(set(map(str.casefold, masked))) < len(set(map(str.casefold, members))):
            what = "masked members of an ENUM or SET are equal"
            raise RecordingError(what, hint="keep or null the column")
        return masked

    def text(self, text: str) -> str:
        """Return a masked comment."""
        return _one(self.text_mask, _TEXT, text.encode()).decode() if text else text


def _one(mask: ColumnMask, column: ColumnInfo, value: bytes | None) -> bytes:
    masked: bytes = masked_values(mask, column, pa.array([value], pa.binary())).values[0].as_py()
    return masked


@dataclass
class _OfTable:
    """A statement about one table."""

    masks: StatementMasks
    tree: DDL
    schema: str

    def masked(self) -> DDL | None:
        """Return the statement with masked literals; None: it stays."""
        tree = self.tree
        if isinstance(tree, CreateView):
            self._check_view(tree)
            return None
        if not isinstance(tree, CreateTable | AlterTable | CreateIndex):
            return None
        self.name = tree.table.within(self.schema)
        self.names = self.masks.tables.masked_names(*self.name)
        self.names |= {column.name[-1].lower() for column in _parts(tree, Column) if self._mask(column)}
        if not self.names:
            return None
        return cast(DDL, self._node(tree))

    def _node(self, node: Any) -> Any:
        """Return a part of the tree with masked literals."""
        match node:
            case SourceText():
                self._check(node)
                return node
            case Column():
                return self._column(node)
            case AlterColumn() if node.default is not None:
                return replace(node, default=self._new_default(node.name[-1], node.default))
            case PartitionBy():
                self._check_partitions(node)
            case ChangePartitions():
                self._check_bounds(node)
            case ForeignKey():
                self._check_reference(node.columns, node.references)
            case Setting() if any(token.token_type in _STRINGS for token in _tokens(node.source)):
                raise RecordingError(f"ALTER TABLE … {node.kind} has a text", hint="leave its table out")
            case tuple():
                return tuple(map(self._node, node))
        if not is_dataclass(node) or isinstance(node, type):
            return node
        if getattr(node, "kind", "") in _FREE_TEXTS:
            parts = {"value": self.masks.text(getattr(node, "value", ""))}
            return replace(node, **parts)
        parts = {
            field.name: self._node(getattr(node, field.name))
            for field in fields(node)
            if field.name not in ("source", "bounds", "bound")
        }
        return replace(node, **parts)

    def _column(self, column: Column) -> Column:
        name, info, mask = column.name[-1], self._info(column), self._mask(column)
        attributes = []
        for attribute in column.attributes:
            if isinstance(attribute, References):
                self._check_reference((KeyPart(name=(name,)),), attribute, info)
            if not isinstance(attribute, Default):
                attributes.append(self._node(attribute))
            elif mask is None or attribute.now is not None:
                attributes.append(attribute)
            elif mask.method != "null":
                attributes.append(self._default(attribute, info, mask))
        kind = column.type
        if mask is not None and kind.members:
            kind = replace(kind, members=self.masks.members(mask, kind.members))
        return replace(column, type=kind, attributes=tuple(attributes))

    def _default(self, default: Default, info: ColumnInfo, mask: ColumnMask) -> Default:
        if info.default_expression:
            if _has_literal(default.value) and not self.masks.tables.rules.keeps_expressions:
                what = f"the DEFAULT of {'.'.join((*self.name, info.name))} is an expression with literals"
                raise RecordingError(what, hint=_EXPRESSION_HINT)
            return default
        if info.default is None:
            return default
        if info.elements:
            info = replace(info, elements=self.masks.members(mask, info.elements))
        text = value_text(info, _one(mask, info, info.default))
        (statement,) = split_statements(text)
        return Default(value=SourceText(statement, 0, len(statement.tokens)))

    def _new_default(self, name: str, default: Default) -> Default:
        """Return the DEFAULT of ALTER COLUMN … SET DEFAULT, which does not repeat the type."""
        info = self.masks.tables.column(*self.name, name)
        if info is None:
            raise RecordingError(f"the definition of {'.'.join((*self.name, name))} is not known")
        mask = self.masks.tables.mask_of(*self.name, info)
        if mask is None or default.now is not None:
            return default
        return self._default(
            default, self._read(f"`c` {column_type_text(info)} DEFAULT {default.value.text}"), mask
        )

    def _mask(self, column: Column) -> ColumnMask | None:
        if any(isinstance(attribute, GeneratedAs) for attribute in column.attributes):
            return None
        return self.masks.tables.mask_of(*self.name, self._info(column))

    def _info(self, column: Column) -> ColumnInfo:
        return replace(self._read(column.source.text), name=column.name[-1])

    def _read(self, definition: str) -> ColumnInfo:
        """Return the column of a definition."""
        (statement,) = split_statements(definition)
        cursor = Cursor(statement)
        element = _without_checks(read_element(cursor))
        table = CreateTable(table=TableName("", "t"), elements=(element,), source=cursor.since(0))
        return make_table(draft_table(table, ""), "", "t", _CHARSET, LENIENT, 1)[0].columns[0]

    def _check(self, expression: SourceText) -> None:
        """Check that an expression about masked columns has no literals."""
        if self.masks.tables.rules.keeps_expressions or not _has_literal(expression):
            return
        words = {
            str(token.text).lower() for token in _tokens(expression) if token.token_type not in _LITERALS
        }
        if names := sorted(words & self.names):
            what = f"an expression about {names[0]} of {'.'.join(self.name)} has literals"
            raise RecordingError(what, hint=_EXPRESSION_HINT)

    def _check_view(self, view: CreateView) -> None:
        """Check that a view with literals is of known tables without masked columns."""
        tables = self.masks.tables
        if not tables.rules.masks_any or tables.rules.keeps_expressions:
            return
        literals = [token for token in _tokens(view.query) if token.token_type in _LITERALS]
        if not literals or not _has_literal(view.query):
            return
        sources = _tables_of(view.query, self.schema)
        if sources == set() and all(token.token_type == TokenType.NUMBER for token in literals):
            return  # mysqldump's place-holder of a view
        known = {(schema.lower(), table.lower()) for schema, table in tables.names.values()}
        clear = (
            sources is not None
            and sources <= known
            and not any(tables.masked_names(*name) for name in sources)
        )
        if not sources or not clear:
            what = "the query of a view has literals, and not only tables without masked columns"
            raise RecordingError(what, hint=_EXPRESSION_HINT)

    def _check_partitions(self, partitions: PartitionBy) -> None:
        for method in _methods(partitions):
            if method.kind in ("RANGE", "LIST") and (names := sorted(_words_of(method) & self.names)):
                what = f"{'.'.join(self.name)} has {method.kind} partitions by the masked column {names[0]}"
                raise RecordingError(what, hint=_PARTITION_HINT)

    def _check_bounds(self, change: ChangePartitions) -> None:
        """Check that bounds of new partitions are none of masked columns."""
        bounds = [bound for part in change.parts for values in part.bounds for bound in values]
        if not any(map(_has_literal, [*bounds, *([change.bound] if change.bound else [])])):
            return
        words = self.masks.tables.words_of_partitions(*self.name)
        if words is None:
            what = f"{change.kind} of {'.'.join(self.name)} has bounds, and its PARTITION BY is not known"
            raise RecordingError(what, hint="keep all its columns, or leave the table out")
        if names := sorted(words & self.names):
            what = f"{change.kind} of {'.'.join(self.name)} has bounds of the masked column {names[0]}"
            raise RecordingError(what, hint=_PARTITION_HINT)

    def _check_reference(
        self, columns: tuple[KeyPart, ...], references: References, info: ColumnInfo | None = None
    ) -> None:
        tables, parent = self.masks.tables, references.table.within(self.schema)
        for child, target in zip(columns, references.columns, strict=False):
            name, other = child.name[-1], target.name[-1]
            column = info or tables.column(*self.name, name)
            if column is None:
                continue
            referenced = tables.column(*parent, other) or replace(column, name=other)
            if tables.mask_of(*self.name, column) != tables.mask_of(*parent, referenced):
                names = f"{'.'.join((*self.name, name))} refers to {'.'.join((*parent, other))}"
                what = f"{names}, which has another mask"
                raise RecordingError(what, hint="give both columns the same rule")


def _tables_of(query: SourceText, schema: str) -> set[tuple[str, str]] | None:
    """Return the names of the tables of a query, in lower case; None: it cannot be read."""
    try:
        tree = parse_one(query.text, dialect=TiDB)
    except SqlglotError:
        return None
    tables = (table for table in tree.find_all(exp.Table))
    return {((table.db or schema).lower(), table.name.lower()) for table in tables}


def _parts(node: Any, kind: type[_Part]) -> Iterator[_Part]:
    """Yield the parts of a tree of a kind."""
    if isinstance(node, kind):
        yield node
    elif isinstance(node, tuple):
        for element in node:
            yield from _parts(element, kind)
    elif is_dataclass(node) and not isinstance(node, SourceText):
        for part in fields(node):
            yield from _parts(getattr(node, part.name), kind)


def _methods(partitions: PartitionBy) -> list[PartitionMethod]:
    return [method for method in (partitions.method, partitions.inner) if method is not None]


def _words_of(method: PartitionMethod) -> set[str]:
    """Return the words of a partition function, in lower case."""
    words = {name[-1].lower() for name in method.columns}
    if method.expression is not None:
        words |= {str(token.text).lower() for token in _tokens(method.expression)}
    return words


def _without_checks(element: Any) -> Any:
    """Return a column without what other columns are needed for."""
    attributes = (
        part for part in element.attributes if not isinstance(part, Check | References | GeneratedAs)
    )
    return replace(element, attributes=tuple(attributes))


def _tokens(source: SourceText) -> tuple[Any, ...]:
    return source.statement.tokens[source.start : source.end]


def _has_literal(source: SourceText) -> bool:
    """Return whether words have numbers, or texts with letters or digits."""
    return any(
        token.token_type in _LITERALS
        and (token.token_type not in _STRINGS or any(map(str.isalnum, str(token.text))))
        for token in _tokens(source)
    )
