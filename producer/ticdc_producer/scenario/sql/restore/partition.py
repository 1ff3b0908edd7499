"""Partitioning as TiDB prints it.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``PartitionOptions``, ``PartitionMethod``, ``PartitionDefinition``).
"""

from __future__ import annotations

from collections.abc import Iterable

from ticdc_producer.scenario.sql.restore.expression import read_arithmetic, read_expression
from ticdc_producer.scenario.sql.restore.grammar import printed
from ticdc_producer.scenario.sql.restore.names import column_text
from ticdc_producer.scenario.sql.restore.option import print_option
from ticdc_producer.scenario.sql.syntax.partition import Intervals, Partition, PartitionBy, PartitionMethod
from ticdc_producer.scenario.sql.text.cursor import SourceText
from ticdc_producer.scenario.sql.text.spelling import quoted_name


def print_partition_by(partitioning: PartitionBy) -> str:
    """Print ``PARTITION BY …``.

    TiDB does not print the number of partitions if it prints their list.
    """
    method, parts = partitioning.method, partitioning.parts
    count = max(partitioning.count, 0)
    if not parts and not count and method.kind in ("HASH", "KEY"):
        count = 1
    text = f"PARTITION BY {_method(method)}" + f" PARTITIONS {count}" * bool(count and not parts)
    if partitioning.inner is not None:
        text += f" SUBPARTITION BY {_method(partitioning.inner)}"
        inner_count = partitioning.inner_count or (len(parts[0].subpartitions) if parts else 0)
        text += f" SUBPARTITIONS {inner_count}" * bool(inner_count)
    if parts:
        text += f" ({print_partitions(parts, ',')})"
    if partitioning.indexes:
        indexes = ",".join(f"{quoted_name(name)} {scope}" for name, scope in partitioning.indexes)
        text += f" UPDATE INDEXES ({indexes})"
    return text


def _method(method: PartitionMethod) -> str:
    text = "LINEAR " * method.linear + method.kind
    text += f" ALGORITHM = {method.algorithm}" if method.algorithm >= 0 else ""
    if method.expression is None:
        columns = " COLUMNS" if method.kind in ("RANGE", "LIST") else ""
        text += f"{columns} ({','.join(map(column_text, method.columns))})"
    else:
        text += f" ({printed(method.expression, read_arithmetic)})"
    return text + (_intervals(method.intervals) if method.intervals else "")


def _intervals(intervals: Intervals) -> str:
    text = f" INTERVAL ({printed(intervals.amount, read_arithmetic)} {intervals.unit}".rstrip() + ")"
    for end, bound in (("FIRST", intervals.first), ("LAST", intervals.last)):
        text += f" {end} {print_less_than(bound)}" if bound is not None else ""
    return text + " NULL PARTITION" * intervals.null + " MAXVALUE PARTITION" * intervals.maxvalue


def print_less_than(bound: SourceText) -> str:
    """Print ``PARTITION LESS THAN (…)``."""
    return f"PARTITION LESS THAN ({printed(bound, read_arithmetic)})"


def print_partitions(parts: Iterable[Partition], separator: str = ", ") -> str:
    """Print partition definitions, without brackets around them."""
    return separator.join(_partition(part, "PARTITION") for part in parts)


def _partition(part: Partition, word: str) -> str:
    options = "".join(f" {print_option(option)}" for option in part.options)
    inner = ",".join(_partition(subpartition, "SUBPARTITION") for subpartition in part.subpartitions)
    return f"{word} {quoted_name(part.name)}{_values(part)}{options}" + (f" ({inner})" if inner else "")


def _values(part: Partition) -> str:
    match part.values:
        case "DEFAULT":
            return " DEFAULT"
        case "LESS THAN":
            return f" VALUES LESS THAN ({', '.join(map(_value, part.bounds[0]))})"
        case "IN":
            return f" VALUES IN ({', '.join(map(_member, part.bounds))})"
    return ""


def _member(values: tuple[SourceText, ...]) -> str:
    """Print one value, or the values of several columns in brackets, which TiDB prints without ROW here."""
    texts = ", ".join(map(_value, values))
    return f"({texts})" if len(values) > 1 else texts


def _value(value: SourceText) -> str:
    return printed(value, lambda at: at.accept_any("MAXVALUE", "DEFAULT") or read_expression(at))
