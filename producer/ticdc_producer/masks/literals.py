"""Checks that what cannot be masked in a DDL holds no value of a masked column.

This is what a mask would give another meaning: literals of expressions and views, bounds of partitions, and
references to columns with another mask. Values of a column that is computed of a masked one are no better.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from ticdc_producer.errors import RecordingError
from ticdc_producer.masks.tables import MaskedTables
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.scenario.sql.syntax.key import KeyPart, References
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy, PartitionMethod
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions
from ticdc_producer.scenario.sql.syntax.view import CreateView
from ticdc_producer.scenario.sql.text.cursor import SourceText
from ticdc_producer.scenario.sql.text.dialect import TiDB, TokenType

_STRINGS = (TokenType.STRING, TokenType.NATIONAL_STRING)
_LITERALS = (*_STRINGS, TokenType.NUMBER, TokenType.HEX_STRING, TokenType.BIT_STRING)
_PARTITION_HINT = "keep the column: masked values have other partitions"
EXPRESSION_HINT = "`expressions: keep` in the rules lets literals of expressions stay"


@dataclass(frozen=True)
class LiteralChecks:
    """The checks of a statement about one table.

    :param schema: the current database.
    :param table: schema and name of the table.
    :param names: its columns that are masked, or computed of masked ones, in lower case.
    """

    tables: MaskedTables
    schema: str
    table: tuple[str, str]
    names: Set[str]

    def check_expression(self, expression: SourceText) -> None:
        """Check that an expression about masked columns has no literals."""
        if self.tables.rules.keeps_expressions or not has_literal(expression):
            return
        if names := sorted(words_of(expression) & self.names):
            what = f"an expression about {names[0]} of {'.'.join(self.table)} has literals"
            raise RecordingError(what, hint=EXPRESSION_HINT)

    def check_partitions(self, partitions: PartitionBy) -> None:
        """Check that the bounds of partitions are not those of masked columns."""
        for method in _methods(partitions):
            if method.kind in ("RANGE", "LIST") and (names := sorted(_words_of_method(method) & self.names)):
                what = f"{'.'.join(self.table)} has {method.kind} partitions by the masked column {names[0]}"
                raise RecordingError(what, hint=_PARTITION_HINT)

    def check_bounds(self, change: ChangePartitions) -> None:
        """Check that the bounds of new partitions are not those of masked columns."""
        bounds = [bound for part in change.parts for values in part.bounds for bound in values]
        if not any(map(has_literal, [*bounds, *([change.bound] if change.bound else [])])):
            return
        words = self.tables.words_of_partitions(*self.table)
        if words is None:
            what = f"{change.kind} of {'.'.join(self.table)} has bounds, and its PARTITION BY is not known"
            raise RecordingError(what, hint="keep all its columns, or leave the table out")
        if names := sorted(words & self.names):
            what = f"{change.kind} of {'.'.join(self.table)} has bounds of the masked column {names[0]}"
            raise RecordingError(what, hint=_PARTITION_HINT)

    def check_reference(
        self, columns: tuple[KeyPart, ...], references: References, info: ColumnInfo | None = None
    ) -> None:
        """Check that columns have the masks of those that they refer to.

        :param info: the definition of the one column; None: they are known.
        """
        parent = references.table.within(self.schema)
        for child, target in zip(columns, references.columns, strict=False):
            name, other = child.name[-1], target.name[-1]
            column = info or self.tables.column(*self.table, name)
            if column is None:
                continue
            referenced = self.tables.column(*parent, other) or replace(column, name=other)
            if self.tables.mask_of(*self.table, column) != self.tables.mask_of(*parent, referenced):
                names = f"{'.'.join((*self.table, name))} refers to {'.'.join((*parent, other))}"
                what = f"{names}, which has another mask"
                raise RecordingError(what, hint="give both columns the same rule")


def check_view(tables: MaskedTables, view: CreateView, schema: str) -> None:
    """Check that a view with literals is of known tables without masked columns.

    :param schema: the current database.
    """
    if not tables.rules.masks_any or tables.rules.keeps_expressions:
        return
    literals = [token for token in _tokens(view.query) if token.token_type in _LITERALS]
    if not has_literal(view.query):
        return
    sources = _tables_of(view.query, schema)
    if sources == set() and all(token.token_type == TokenType.NUMBER for token in literals):
        return  # mysqldump's place-holder of a view
    known = {(schema.lower(), table.lower()) for schema, table in tables.names.values()}
    clear = (
        sources is not None and sources <= known and not any(tables.masked_names(*name) for name in sources)
    )
    if not sources or not clear:
        what = "the query of a view has literals, and may read a table with masked columns"
        raise RecordingError(what, hint=EXPRESSION_HINT)


def _tables_of(query: SourceText, schema: str) -> set[tuple[str, str]] | None:
    """Return the names of the tables of a query, in lower case; None: it cannot be read."""
    try:
        tree = parse_one(query.text, dialect=TiDB)
    except SqlglotError:
        return None
    tables = (table for table in tree.find_all(exp.Table))
    return {((table.db or schema).lower(), table.name.lower()) for table in tables}


def with_computed(names: Set[str], expressions: Mapping[str, Set[str]]) -> Set[str]:
    """Return names of columns, and those of the columns that are computed of them.

    :param names: in lower case.
    :param expressions: by generated column the words of its expression, all in lower case.

    >>> sorted(with_computed({"a"}, {"b": {"upper", "a"}, "c": {"b"}, "d": {"x"}}))
    ['a', 'b', 'c']
    """
    computed = {name for name, words in expressions.items() if words & names}
    return names if computed <= names else with_computed(names | computed, expressions)


def partition_words(partitions: PartitionBy) -> set[str]:
    """Return the words of all partition functions of a table, in lower case."""
    return {word for method in _methods(partitions) for word in _words_of_method(method)}


def _methods(partitions: PartitionBy) -> list[PartitionMethod]:
    return [method for method in (partitions.method, partitions.inner) if method is not None]


def _words_of_method(method: PartitionMethod) -> set[str]:
    words = {name[-1].lower() for name in method.columns}
    return words if method.expression is None else words | words_of(method.expression)


def words_of(source: SourceText) -> set[str]:
    """Return the words that are not literals, in lower case."""
    return {str(token.text).lower() for token in _tokens(source) if token.token_type not in _LITERALS}


def _tokens(source: SourceText) -> tuple[Any, ...]:
    """Return the words with their kinds."""
    return source.statement.tokens[source.start : source.end]


def has_text(source: SourceText) -> bool:
    """Return whether words have a text."""
    return any(token.token_type in _STRINGS for token in _tokens(source))


def has_literal(source: SourceText) -> bool:
    """Return whether words have numbers, or texts with letters or digits."""
    return any(
        token.token_type in _LITERALS
        and (token.token_type not in _STRINGS or any(map(str.isalnum, str(token.text))))
        for token in _tokens(source)
    )
