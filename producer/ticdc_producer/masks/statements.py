"""Masks the literals of DDL statements: DEFAULTs, members of ENUM and SET, comments.

Literals in expressions and in the bounds of partitions cannot be masked: such a statement is refused if it is
about a masked column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar, cast

import pyarrow as pa

from ticdc_producer.errors import RecordingError
from ticdc_producer.masks.literals import (
    EXPRESSION_HINT,
    LiteralChecks,
    check_view,
    has_literal,
    has_text,
    partition_words,
    with_computed,
    words_of,
)
from ticdc_producer.masks.methods import masked_values
from ticdc_producer.masks.rules import ColumnMask
from ticdc_producer.masks.tables import MaskedTables
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.replica.stream_ddl import UNREADABLE, parsed_ddl
from ticdc_producer.replica.versions import LENIENT
from ticdc_producer.scenario.sql.definition.create_text import column_type_text, value_text
from ticdc_producer.scenario.sql.definition.table_definition import draft_table, make_table
from ticdc_producer.scenario.sql.restore.statement import print_statement
from ticdc_producer.scenario.sql.syntax import parse_ddl
from ticdc_producer.scenario.sql.syntax.alter import AlterColumn, Setting, read_element
from ticdc_producer.scenario.sql.syntax.column import Column, GeneratedAs
from ticdc_producer.scenario.sql.syntax.default import Default
from ticdc_producer.scenario.sql.syntax.key import Check, ForeignKey, KeyPart, References
from ticdc_producer.scenario.sql.syntax.names import TableName
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions
from ticdc_producer.scenario.sql.syntax.statement import DDL, AlterTable, CreateIndex, CreateTable
from ticdc_producer.scenario.sql.syntax.view import CreateView
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText
from ticdc_producer.scenario.sql.text.statements import Statement, split_statements

_CHARSET = "utf8mb4", "utf8mb4_bin"
_TEXT = ColumnInfo(name="", type=MySQLType.VARCHAR, charset="utf8mb4", collation="utf8mb4_bin")
_FREE_TEXTS = ("COMMENT", "CONNECTION", "PASSWORD", "SECONDARY_ENGINE_ATTRIBUTE")
_Part = TypeVar("_Part", Column, PartitionBy)
_TableDDL: TypeAlias = CreateTable | AlterTable | CreateIndex


@dataclass(frozen=True)
class StatementMasks:
    """The masks of the literals of statements."""

    tables: MaskedTables

    def masked(self, query: str, schema: str, where: str) -> str:
        """Return a DDL whose literals are masked; it stays as it is if it is about no masked column.

        :param schema: the current database.
        :param where: the place of the statement, for errors.
        :raises RecordingError: if it has literals that cannot be masked; the text has none of them.
        """
        try:
            statements = [*split_statements(query)]
        except UNREADABLE:
            raise _unreadable(where) from None
        return "; ".join(self._statement(statement, schema, where) for statement in statements)

    def see_partitions(self, query: str, schema: str) -> None:
        """Note by what the tables of a DDL are partitioned, so that later bounds may be known as unmasked."""
        upper = query.upper()
        self.tables.moves |= any(word in upper for word in ("RENAME", "LIKE"))
        if "PARTITION" not in upper:
            return
        for tree in parsed_ddl(query):  # ``masked`` refuses one that cannot be read
            if isinstance(tree, CreateTable | AlterTable):
                for partitions in _parts(tree, PartitionBy):
                    self.tables.see_partitions(*tree.table.within(schema), partition_words(partitions))

    def _statement(self, statement: Statement, schema: str, where: str) -> str:
        try:
            tree = parse_ddl(Cursor(statement))
        except UNREADABLE:
            raise _unreadable(where) from None
        try:
            if isinstance(tree, CreateView):
                check_view(self.tables, tree, schema)
            masked = _OfTable(self, tree, schema).masked() if isinstance(tree, _TableDDL) else None
            return statement.text if masked is None else print_statement(masked)
        except RecordingError as error:
            raise RecordingError(error.what, where=where, hint=error.hint) from None
        except UNREADABLE:
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
        mask = self.tables.rules.text_mask
        return _masked_value(mask, _TEXT, text.encode()).decode() if text else text


def _unreadable(where: str) -> RecordingError:
    what = "a DDL cannot be read, so its literals cannot be masked"
    return RecordingError(what, where=where, hint="leave its table out with `table`").about("table")


def _masked_value(mask: ColumnMask, column: ColumnInfo, value: bytes | None) -> bytes:
    masked: bytes = masked_values(mask, column, pa.array([value], pa.binary())).values[0].as_py()
    return masked


@dataclass
class _OfTable:
    """A statement about one table."""

    masks: StatementMasks
    tree: _TableDDL
    schema: str

    def masked(self) -> DDL | None:
        """Return the statement with masked literals; None: it stays."""
        return cast(DDL, self._node(self.tree)) if self._checks.names else None

    @cached_property
    def name(self) -> tuple[str, str]:
        """Schema and name of the table."""
        return self.tree.table.within(self.schema)

    @cached_property
    def _checks(self) -> LiteralChecks:
        names = self.masks.tables.masked_names(*self.name)
        expressions = {
            column.name.lower(): words_of(_source(column.expression))
            for column in self.masks.tables.generated_columns(*self.name)
        }
        for column in _parts(self.tree, Column):
            name = column.name[-1].lower()
            if self._mask(column):
                names.add(name)
            for generated in (part for part in column.attributes if isinstance(part, GeneratedAs)):
                expressions[name] = words_of(generated.expression)
        return LiteralChecks(self.masks.tables, self.schema, self.name, with_computed(names, expressions))

    def _node(self, node: Any) -> Any:
        """Return a part of the tree with masked literals."""
        match node:
            case SourceText():
                self._checks.check_expression(node)
                return node
            case Column():
                return self._column(node)
            case AlterColumn() if node.default is not None:
                return replace(node, default=self._new_default(node.name[-1], node.default))
            case PartitionBy():
                self._checks.check_partitions(node)
            case ChangePartitions():
                self._checks.check_bounds(node)
            case ForeignKey():
                self._checks.check_reference(node.columns, node.references)
            case Setting() if has_text(node.source):
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
                self._checks.check_reference((KeyPart(name=(name,)),), attribute, info)
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
            if has_literal(default.value) and not self.masks.tables.rules.keeps_expressions:
                what = f"the DEFAULT of {'.'.join((*self.name, info.name))} is an expression with literals"
                raise RecordingError(what, hint=EXPRESSION_HINT)
            return default
        if info.default is None:
            return default
        if info.elements:
            info = replace(info, elements=self.masks.members(mask, info.elements))
        text = value_text(info, _masked_value(mask, info, info.default))
        return Default(value=_source(text))

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


def _source(text: str) -> SourceText:
    (statement,) = split_statements(text)
    return SourceText(statement, 0, len(statement.tokens))


def _without_checks(element: Any) -> Any:
    """Return a column without what other columns are needed for."""
    attributes = (
        part for part in element.attributes if not isinstance(part, Check | References | GeneratedAs)
    )
    return replace(element, attributes=tuple(attributes))
