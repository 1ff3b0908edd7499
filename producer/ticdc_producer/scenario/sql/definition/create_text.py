"""The CREATE TABLE statement of a table version, as SHOW CREATE TABLE prints it.

MySQL, TiDB and this tool run it. What they do not have in common is in comments for TiDB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import (
    CHARSET_BEARING,
    FLOATS,
    INTEGERS,
    LOBS,
    STRINGS,
    TYPES,
    MySQLType,
)
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.definition.foreign_key import NO_ACTION, ForeignKeyInfo
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning
from ticdc_producer.scenario.sql.text.spelling import quoted_name, quoted_text

T = MySQLType
_WITH_LENGTH = STRINGS | {T.BIT, T.VECTOR_FLOAT32}
_AS_VALUES = (T.BIT, T.ENUM, T.SET)
_NUMBERS = ("integer", "float", "decimal")


def create_table_text(
    table: TableInfo,
    partitioning: Partitioning | None = None,
    foreign_keys: Sequence[ForeignKeyInfo] = (),
    *,
    temporary: bool = False,
) -> str:
    """Return the CREATE TABLE statement of a table, without a semicolon.

    :param temporary: whether it is a global temporary table, which only TiDB has.
    """
    constraints = {key.name.lower() for key in foreign_keys}
    elements = [
        *(_column(column) for column in table.columns if not column.hidden),
        *(
            _index(index, table)
            for index in table.indexes
            if not (index.implicit and index.name.lower() in constraints)
        ),
        *(_foreign_key(key) for key in foreign_keys),
    ]
    body = ",\n  ".join(elements)
    options = f"DEFAULT CHARSET={table.charset} COLLATE={table.collation}"
    options += f" COMMENT={quoted_text(table.comment)}" if table.comment else ""
    options += " /*T![active_active] ACTIVE_ACTIVE='ON' */" if table.active_active else ""
    options += f" /*T![softdelete] SOFTDELETE={table.soft_delete} */" if table.soft_delete else ""
    name = f"{quoted_name(table.schema)}.{quoted_name(table.name)}"
    text = f"TABLE {name} (\n  {body}\n) {options}" + _partition_by(table, partitioning)
    return f"CREATE GLOBAL TEMPORARY {text} ON COMMIT DELETE ROWS" if temporary else f"CREATE {text}"


def _column(column: ColumnInfo) -> str:
    return " ".join([quoted_name(column.name), column_type_text(column), *_attributes(column)])


def column_type_text(column: ColumnInfo) -> str:
    """Return the type of a column with its digits, members and charset."""
    name, kind = column.type_name, column.type
    if column.elements:
        name += f"({','.join(map(quoted_text, column.elements))})"
    elif kind == T.NEW_DECIMAL or (kind in FLOATS and column.decimal >= 0):
        name = _with_digits(name, f"{column.length},{max(column.decimal, 0)}")
    elif TYPES[kind].has_fsp and column.decimal > 0:
        name += f"({column.decimal})"
    elif (kind in _WITH_LENGTH and column.length >= 0) or (kind in INTEGERS and column.length >= 0):
        name = _with_digits(name, str(column.length))
    if column.zerofill and kind != T.YEAR:
        name += " zerofill"
    if kind in CHARSET_BEARING and not column.binary:
        name += f" CHARACTER SET {column.charset} COLLATE {column.collation}"
    return name


def _with_digits(name: str, digits: str) -> str:
    """Return a type with its digits, which come before UNSIGNED."""
    word, _, sign = name.partition(" ")
    return f"{word}({digits})" + (f" {sign}" if sign else "")


def _attributes(column: ColumnInfo) -> Iterator[str]:
    if column.generated:
        yield f"GENERATED ALWAYS AS ({column.expression}) {column.generated.upper()}"
    if not column.nullable:
        yield "NOT NULL"
    elif column.type == T.TIMESTAMP:
        yield "NULL"
    if column.auto_increment:
        yield "AUTO_INCREMENT"
    if column.auto_random:
        shard, width = column.auto_random
        bits = "" if (shard, width) == (5, 64) else f"({shard}, {width})"
        yield f"/*T![auto_rand] AUTO_RANDOM{bits} */"
    if column.has_default and not column.generated:
        yield f"DEFAULT {_default(column)}"
    if column.on_update_now:
        yield f"ON UPDATE {_now(column)}"
    if column.comment:
        yield f"COMMENT {quoted_text(column.comment)}"


def _now(column: ColumnInfo) -> str:
    return "CURRENT_TIMESTAMP" + (f"({column.decimal})" if column.decimal > 0 else "")


def _default(column: ColumnInfo) -> str:
    if column.default_expression == "CURRENT_TIMESTAMP":
        return _now(column)
    if column.default_expression:
        return f"({column.default_expression})"
    value = column.default
    if value is None or column.type in _AS_VALUES or (column.binary and column.type in STRINGS):
        return value_text(column, value)
    text = (column.metadata_default or b"").decode("utf-8", "surrogateescape")
    return text if column.type in FLOATS and column.default_text else quoted_text(text)


def value_text(column: ColumnInfo, value: bytes | None) -> str:
    """Return the literal of a canonical value, for an INSERT or a DEFAULT."""
    if value is None:
        return "NULL"
    if column.type == T.BIT:
        return f"b'{int(value):b}'"
    if column.type == T.ENUM:
        return quoted_text(column.elements[int(value) - 1] if 0 < int(value) <= len(column.elements) else "")
    if column.type == T.SET:
        number = int(value)
        return quoted_text(",".join(text for bit, text in enumerate(column.elements) if number >> bit & 1))
    family = TYPES[column.type].family
    if family in ("string", "lob") and (column.binary or not _is_text(value)):
        return f"x'{value.hex()}'"
    text = value.decode("utf-8", "surrogateescape")
    return text if family in _NUMBERS or column.type == T.YEAR else quoted_text(text)


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _index(index: IndexInfo, table: TableInfo) -> str:
    lengths = index.lengths or (-1,) * len(index.offsets)
    parts = ",".join(
        _part(table.columns[offset], length) for offset, length in zip(index.offsets, lengths, strict=True)
    )
    if index.primary:
        clustered = "CLUSTERED" if index.clustered else "NONCLUSTERED"
        text = f"PRIMARY KEY ({parts}) /*T![clustered_index] {clustered} */"
    else:
        text = f"{'UNIQUE ' * index.unique}KEY {quoted_name(index.name)} ({parts})"
    return text + " /*T![global_index] GLOBAL */" * index.is_global


def _part(column: ColumnInfo, length: int) -> str:
    if column.hidden:
        return f"({column.expression})"
    return quoted_name(column.name) + (f"({length})" if length >= 0 and column.type in STRINGS | LOBS else "")


def _foreign_key(key: ForeignKeyInfo) -> str:
    columns, parents = (",".join(map(quoted_name, names)) for names in (key.columns, key.parent_columns))
    parent = ".".join(map(quoted_name, key.parent))
    rules = "".join(
        f" ON {event} {rule}"
        for event, rule in (("DELETE", key.on_delete), ("UPDATE", key.on_update))
        if rule != NO_ACTION
    )
    return (
        f"CONSTRAINT {quoted_name(key.name)} FOREIGN KEY ({columns}) REFERENCES {parent} ({parents}){rules}"
    )


def _partition_by(table: TableInfo, partitioning: Partitioning | None) -> str:
    if partitioning is None:
        return ""
    names = [part.name for part in table.partitions]
    by_columns = partitioning.columns and partitioning.kind in ("RANGE", "LIST")
    method = partitioning.kind + " COLUMNS" * bool(by_columns)
    key = ",".join(map(quoted_name, partitioning.columns)) or partitioning.expression
    text = f"\nPARTITION BY {method} ({key})"
    if not partitioning.bounds and names == [f"p{number}" for number in range(len(names))]:
        return f"{text} PARTITIONS {len(names)}"
    return f"{text}\n({partitions_text(names, partitioning.texts)})"


def partitions_text(names: Sequence[str], values: Sequence[str]) -> str:
    """Return the definitions of partitions.

    :param values: the VALUES clause of each; empty for HASH and KEY.
    """
    return ", ".join(
        f"PARTITION {quoted_name(name)} {value}".rstrip()
        for name, value in zip(names, values or ("",) * len(names), strict=True)
    )
