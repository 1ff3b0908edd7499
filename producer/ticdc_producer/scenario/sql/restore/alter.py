"""ALTER TABLE as TiDB prints it, part by part.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``AlterTableStmt``, ``AlterTableSpec``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.restore.column import print_column, print_new_default, print_position
from ticdc_producer.scenario.sql.restore.key import print_key
from ticdc_producer.scenario.sql.restore.names import (
    IF_EXISTS,
    IF_NOT_EXISTS,
    column_text,
    quote_string,
    table_text,
    tidb_comment,
)
from ticdc_producer.scenario.sql.restore.option import PLACEMENT, print_options
from ticdc_producer.scenario.sql.restore.partition import (
    print_less_than,
    print_partition_by,
    print_partitions,
)
from ticdc_producer.scenario.sql.syntax.alter import (
    AddColumn,
    AddKey,
    AlterColumn,
    AlterPart,
    ChangeColumn,
    ConvertTo,
    Drop,
    Element,
    Rename,
    RenameTo,
    SetOptions,
    Setting,
)
from ticdc_producer.scenario.sql.syntax.column import Column
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions
from ticdc_producer.scenario.sql.syntax.statement import AlterTable
from ticdc_producer.scenario.sql.text.spelling import quoted_name

_SEPARATED_BY_SPACE = ("PARTITION BY ", "REMOVE PARTITIONING")


def print_alter(statement: AlterTable) -> str:
    """Print ``ALTER TABLE``."""
    if statement.if_exists:
        raise statement.source.unsupported("ALTER TABLE IF EXISTS, which TiDB does not have,")
    if not statement.parts:
        raise statement.source.error("expected an ALTER TABLE action")
    text = f"ALTER TABLE {table_text(statement.table)}"
    printed = [part for part in map(_part, statement.parts) if part is not None]
    for index, part in enumerate(printed):
        text += (" " if index == 0 or part.startswith(_SEPARATED_BY_SPACE) else ", ") + part
    return text


def print_elements(elements: tuple[Element, ...]) -> list[str]:
    """Print columns and keys; TiDB prints the columns first."""
    columns = [print_column(element) for element in elements if isinstance(element, Column)]
    return columns + [print_key(element) for element in elements if not isinstance(element, Column)]


def _part(part: AlterPart) -> str | None:
    """Print one part; None if TiDB does not print it: placement, TTL_ENABLE, attributes."""
    match part:
        case AddColumn():
            return _add_column(part)
        case AddKey(key=key):
            return f"ADD {print_key(key)}"
        case ChangeColumn():
            return _change_column(part)
        case AlterColumn(name=name, default=default):
            value = "DROP DEFAULT" if default is None else f"SET DEFAULT {print_new_default(default)}"
            return f"ALTER COLUMN {column_text(name)} {value}"
        case Drop():
            return _drop(part)
        case Rename(kind=kind, old=old, new=new):
            return f"RENAME {kind} {quoted_name(old)} TO {quoted_name(new)}"
        case RenameTo(table=table):
            return f"RENAME AS {table_text(table)}"
        case SetOptions():
            return _options(part)
        case ConvertTo(charset=charset, collation=collation):
            of_columns = f" COLLATE {collation.upper()}" if collation else ""
            return f"CONVERT TO CHARACTER SET {charset.upper()}{of_columns}"
        case PartitionBy():
            return print_partition_by(part)
        case ChangePartitions():
            return _partitions(part)
        case Setting():
            return _setting(part)


def _add_column(part: AddColumn) -> str:
    text = "ADD COLUMN " + IF_NOT_EXISTS * part.if_not_exists
    elements = print_elements(part.elements)
    if part.in_brackets:
        return f"{text}({', '.join(elements)})"
    return text + elements[0] + print_position(part.position)


def _change_column(part: ChangeColumn) -> str:
    old = f"{column_text(part.old)} " if part.old else ""
    verb = "CHANGE" if part.old else "MODIFY"
    if_exists = IF_EXISTS * part.if_exists
    return f"{verb} COLUMN {if_exists}{old}{print_column(part.column)}{print_position(part.position)}"


def _drop(part: Drop) -> str:
    if part.kind == "STATS_EXTENDED":
        raise part.source.unsupported("ALTER TABLE … DROP STATS_EXTENDED")
    kind = "CHECK" if part.kind == "CONSTRAINT" else part.kind
    return f"DROP {kind} {IF_EXISTS * part.if_exists}{column_text(part.name)}".rstrip()


def _options(part: SetOptions) -> str | None:
    texts, kinds = print_options(part.options), [option.kind for option in part.options]
    if not texts or set(kinds) == {PLACEMENT}:
        return None
    if kinds == ["CHARSET", "COLLATE"]:
        charset, collation = part.options
        return f"CHARACTER SET {charset.value.upper()} COLLATE {collation.value.upper()}"
    return " ".join(texts)


def _setting(part: Setting) -> str | None:
    kind, name, values = part.kind, quoted_name(part.name), part.values
    match kind:
        case "ATTRIBUTES":
            return None
        case "FORCE":
            return "FORCE /* AlterTableForce is not supported */ "
        case "REMOVE TTL":
            return tidb_comment("ttl", kind)
        case "ALGORITHM" | "LOCK":
            return f"{kind} = {values[0]}"
        case "ALTER INDEX":
            return f"ALTER INDEX {name} {values[0]}"
        case "ALTER CHECK" | "ALTER CONSTRAINT":
            return f"ALTER CHECK {name}{' NOT' * bool(values)} ENFORCED"
        case "ORDER BY":
            return f"ORDER BY {','.join(values)}"
        case "ADD STATS_EXTENDED":
            return f"{kind} {name} {values[0]}({', '.join(values[1:])})"
        case "SET TIFLASH REPLICA":
            labels = ", ".join(map(quote_string, values[1:]))
            return f"{kind} {values[0]}" + (f" LOCATION LABELS {labels}" if labels else "")
        case "STATS_OPTIONS":
            return f"{kind}={quote_string(values[0]) if values else 'DEFAULT'}"
    return kind


def _partitions(part: ChangePartitions) -> str:
    text = part.kind
    if part.conditional:
        text += tidb_comment("", " IF NOT EXISTS") if part.kind == "ADD PARTITION" else f" {IF_EXISTS}"
    text += " NO_WRITE_TO_BINLOG" * part.no_binlog
    names = "ALL" if part.all else ",".join(map(quoted_name, part.names))
    if names:
        text += names if text.endswith("*/") else f" {names}"
    if part.count >= 0:
        text += f" PARTITIONS {part.count}" if part.kind == "ADD PARTITION" else f" {part.count}"
    if part.parts:
        text += f"{' INTO' * bool(names)} ({print_partitions(part.parts)})"
    if part.bound is not None:
        bound = f"{part.kind} {print_less_than(part.bound)}"
        text = bound + " NO_WRITE_TO_BINLOG" * part.no_binlog
    if part.table is not None:
        text += f" WITH TABLE {table_text(part.table)}" + " WITHOUT VALIDATION" * (
            part.validation == "WITHOUT"
        )
    return text
