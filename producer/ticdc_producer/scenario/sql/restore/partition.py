"""Partitioning as TiDB prints it.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``PartitionOptions``, ``PartitionMethod``, ``PartitionDefinition``).
"""

from __future__ import annotations

from typing import NamedTuple

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.expression import read_arithmetic, read_expression
from ticdc_producer.scenario.sql.restore.interval import is_unit, read_unit
from ticdc_producer.scenario.sql.restore.names import (
    read_bracketed_list,
    read_column_name,
    read_list,
    read_name,
)
from ticdc_producer.scenario.sql.restore.table_option import read_table_option


class _Definition(NamedTuple):
    """The text of a partition, and its number of subpartitions."""

    text: str
    subpartitions: int


def read_partition_by(cursor: Cursor) -> str:
    """``PARTITION BY …``; TiDB does not print the number of partitions if it prints their list."""
    cursor.expect("PARTITION", "BY")
    method = _method(cursor)
    number = cursor.integer() if cursor.accept("PARTITIONS") else 0
    inner = _subpartition_by(cursor)
    definitions = read_bracketed_list(cursor, _definition) if cursor.word() == "(" else []
    if not definitions and not number and method.removeprefix("LINEAR ").startswith(("HASH", "KEY")):
        number = 1
    text = "PARTITION BY " + method
    if number and not definitions:
        text += f" PARTITIONS {number}"
    text += inner
    if definitions:
        if inner and " SUBPARTITIONS " not in inner and definitions[0].subpartitions:
            text += f" SUBPARTITIONS {definitions[0].subpartitions}"
        text += f" ({','.join(definition.text for definition in definitions)})"
    if cursor.accept("UPDATE", "INDEXES"):
        text += f" UPDATE INDEXES ({','.join(read_bracketed_list(cursor, _updated_index))})"
    return text


def _method(cursor: Cursor) -> str:
    if word := cursor.accept_any("RANGE", "LIST"):
        text = word + _by_columns_or_value(cursor)
        return text + (_intervals(cursor) if word == "RANGE" else "")
    return _hash_or_key(cursor)


def _by_columns_or_value(cursor: Cursor) -> str:
    if cursor.accept_any("COLUMNS", "FIELDS"):
        return f" COLUMNS ({','.join(read_bracketed_list(cursor, read_column_name))})"
    return " " + _in_brackets(cursor)


def _in_brackets(cursor: Cursor) -> str:
    cursor.expect("(")
    text = read_arithmetic(cursor)
    cursor.expect(")")
    return f"({text})"


def _hash_or_key(cursor: Cursor) -> str:
    linear = "LINEAR " * cursor.accept("LINEAR")
    if cursor.accept("HASH"):
        return f"{linear}HASH {_in_brackets(cursor)}"
    if not cursor.accept("KEY"):
        raise cursor.unsupported(f"partitioning by {cursor.word() or 'this'}")
    algorithm = ""
    if cursor.accept("ALGORITHM", "="):
        algorithm = f" ALGORITHM = {cursor.integer()}"
    columns = [] if cursor.accept("(", ")") else read_bracketed_list(cursor, read_column_name)
    return f"{linear}KEY{algorithm} ({','.join(columns)})"


def _intervals(cursor: Cursor) -> str:
    """``INTERVAL (…) FIRST PARTITION …``, by which TiDB makes the partitions itself."""
    if not cursor.accept("INTERVAL"):
        return ""
    cursor.expect("(")
    text = f" INTERVAL ({read_arithmetic(cursor)}"
    text += f" {read_unit(cursor)})" if is_unit(cursor) else ")"
    cursor.expect(")")
    for end in ("FIRST", "LAST"):
        if cursor.accept(end):
            text += f" {end} {read_less_than(cursor)}"
    for end in ("NULL", "MAXVALUE"):
        text += f" {end} PARTITION" * cursor.accept(end, "PARTITION")
    return text


def read_less_than(cursor: Cursor) -> str:
    """``PARTITION LESS THAN (…)``."""
    cursor.expect("PARTITION", "LESS", "THAN")
    return f"PARTITION LESS THAN {_in_brackets(cursor)}"


def _subpartition_by(cursor: Cursor) -> str:
    if not cursor.accept("SUBPARTITION", "BY"):
        return ""
    method = _hash_or_key(cursor)
    number = cursor.integer() if cursor.accept("SUBPARTITIONS") else 0
    return f" SUBPARTITION BY {method}" + (f" SUBPARTITIONS {number}" if number else "")


def _updated_index(cursor: Cursor) -> str:
    return f"{read_name(cursor)} {cursor.accept_any('GLOBAL', 'LOCAL')}"


def read_definitions(cursor: Cursor) -> list[str]:
    """Partition definitions in brackets."""
    return [definition.text for definition in read_bracketed_list(cursor, _definition)]


def _definition(cursor: Cursor) -> _Definition:
    cursor.expect("PARTITION")
    text = f"PARTITION {read_name(cursor)}{_values(cursor)}{_options(cursor)}"
    if cursor.word() != "(":
        return _Definition(text, 0)
    subpartitions = read_bracketed_list(cursor, _subpartition)
    return _Definition(f"{text} ({','.join(subpartitions)})", len(subpartitions))


def _subpartition(cursor: Cursor) -> str:
    cursor.expect("SUBPARTITION")
    return f"SUBPARTITION {read_name(cursor)}{_options(cursor)}"


def _options(cursor: Cursor) -> str:
    """All options, each after a space; TiDB prints a placement as the space alone."""
    text = ""
    while option := read_table_option(cursor):
        text += " " + option.text
    return text


def _values(cursor: Cursor) -> str:
    if cursor.accept("DEFAULT"):
        return " DEFAULT"
    if not cursor.accept("VALUES"):
        return ""
    if cursor.accept("LESS", "THAN"):
        bounds = ["MAXVALUE"] if cursor.accept("MAXVALUE") else read_bracketed_list(cursor, _bound)
        return f" VALUES LESS THAN ({', '.join(bounds)})"
    cursor.expect("IN")
    members = read_bracketed_list(cursor, _member)
    return " DEFAULT" if members == ["DEFAULT"] else f" VALUES IN ({', '.join(members)})"


def _bound(cursor: Cursor) -> str:
    return cursor.accept_any("MAXVALUE") or read_expression(cursor)


def _member(cursor: Cursor) -> str:
    """One value, or the values of several columns in brackets, which TiDB prints without ROW here."""
    if cursor.accept("DEFAULT"):
        return "DEFAULT"
    start = cursor.position
    if cursor.accept("("):
        values = read_list(cursor, read_expression)
        if len(values) > 1 and cursor.accept(")"):
            return f"({', '.join(values)})"
        cursor.position = start
    return read_expression(cursor)
