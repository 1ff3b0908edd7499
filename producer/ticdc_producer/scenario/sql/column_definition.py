"""Reads a column of CREATE TABLE or ADD COLUMN (name, type, attributes) and builds its ``ColumnInfo``.

Rules: tidb ``pkg/ddl/add_column.go`` (``columnDefToCol``, ``setCharsetCollationFlenDecimal``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.collation import CHARSET_ALIASES, DEFAULT_COLLATIONS, KNOWN, charset_of, sort_key
from ticdc_producer.model.column import ColumnInfo, Generated
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.scenario.sql.column_default import read_default, read_now, with_default
from ticdc_producer.scenario.sql.column_type import MAX_VARCHAR, WIDEST, TypeSpec, fitted_lob, read_type
from ticdc_producer.scenario.sql.cursor import Cursor

T = MySQLType

_ATTRIBUTE_WORDS = frozenset({
    "NOT", "NULL", "DEFAULT", "ON", "AUTO_INCREMENT", "COMMENT", "PRIMARY", "UNIQUE", "KEY",
    "COLLATE", "CHARSET", "CHARACTER", "GENERATED", "AS", "VIRTUAL", "STORED", "CHECK",
    "CONSTRAINT", "REFERENCES", "COLUMN_FORMAT", "STORAGE", "AUTO_RANDOM", "FIRST", "AFTER",
})  # fmt: skip


@dataclass(slots=True, kw_only=True)
class ColumnDraft:
    """A parsed column definition, before the table's charset is known.

    :param nullable: None if the definition has neither NULL nor NOT NULL.
    :param default: SQL text of the DEFAULT; None without one.
    :param default_now: fractional digits of ``DEFAULT CURRENT_TIMESTAMP``; -1 without it.
    :param on_update_now: fractional digits of ``ON UPDATE CURRENT_TIMESTAMP``; -1 without it.
    :param keys: ``primary`` or ``unique`` for each inline key.
    :param clustered: CLUSTERED or NONCLUSTERED of an inline PRIMARY KEY; None if neither is given.
    """

    name: str
    spec: TypeSpec
    line: int
    charset: str = ""
    collation: str = ""
    nullable: bool | None = None
    default: str | None = None
    default_now: int = -1
    on_update_now: int = -1
    auto_increment: bool = False
    comment: str = ""
    keys: list[str] = field(default_factory=list)
    clustered: bool | None = None
    generated: Generated = ""
    expression: str = ""
    auto_random: bool = False


def read_column(cursor: Cursor) -> ColumnDraft:
    """Read a column definition."""
    line = cursor.line
    name = cursor.identifier("a column name")
    draft = ColumnDraft(name=name, spec=read_type(cursor), line=line)
    if draft.spec.serial:
        draft.nullable, draft.auto_increment = False, True
        draft.keys.append("unique")
    while not cursor.at_end and cursor.word() not in (",", ")", "FIRST", "AFTER"):
        _read_attribute(cursor, draft)
    return draft


def _read_attribute(cursor: Cursor, draft: ColumnDraft) -> None:
    if cursor.accept("NOT", "NULL"):
        draft.nullable = False
    elif cursor.accept("NULL"):
        draft.nullable = True
    elif cursor.accept("DEFAULT"):
        draft.default, draft.default_now = read_default(cursor, until=_ATTRIBUTE_WORDS)
    elif cursor.accept("ON", "UPDATE"):
        draft.on_update_now = read_now(cursor)
    elif cursor.accept("AUTO_INCREMENT"):
        draft.auto_increment = True
    elif cursor.accept("GENERATED", "ALWAYS", "AS") or cursor.accept("AS"):
        _read_generated(cursor, draft)
    elif cursor.word() == "CHECK" and cursor.word(1) == "(":
        cursor.accept("CHECK")  # ignored unless tidb_enable_check_constraint is on
        _skip_brackets(cursor)
    elif cursor.accept("AUTO_RANDOM"):
        _skip_brackets(cursor)
        draft.auto_random = True
    elif cursor.accept("COMMENT"):
        draft.comment = cursor.string()
    elif cursor.accept("COLLATE"):
        cursor.accept("=")
        draft.collation = read_collation(cursor)
    elif cursor.accept("CHARSET") or cursor.accept("CHARACTER", "SET"):
        cursor.accept("=")
        draft.charset = read_charset(cursor)
    else:
        _read_key(cursor, draft)


def _read_generated(cursor: Cursor, draft: ColumnDraft) -> None:
    cursor.expect("(")
    draft.expression = cursor.expression_source()
    cursor.expect(")")
    word = cursor.accept_any("VIRTUAL", "STORED", "PERSISTENT")
    draft.generated = "stored" if word in ("STORED", "PERSISTENT") else "virtual"


def _skip_brackets(cursor: Cursor) -> None:
    if cursor.accept("("):
        cursor.expression_source()
        while cursor.accept(","):
            cursor.expression_source()
        cursor.expect(")")


def _read_key(cursor: Cursor, draft: ColumnDraft) -> None:
    if cursor.accept("UNIQUE"):
        cursor.accept("KEY")
        draft.keys.append("unique")
    elif cursor.accept("PRIMARY", "KEY") or cursor.accept("PRIMARY") or cursor.accept("KEY"):
        draft.keys.append("primary")
        draft.clustered = read_clustered(cursor)
    else:
        raise cursor.unsupported(f"the column attribute {cursor.word() or 'here'}")


def read_clustered(cursor: Cursor) -> bool | None:
    """Read CLUSTERED or NONCLUSTERED; None if neither comes next."""
    word = cursor.accept_any("CLUSTERED", "NONCLUSTERED")
    return word == "CLUSTERED" if word else None


def read_charset(cursor: Cursor) -> str:
    """Read the name of a charset.

    :raises UnsupportedSQL: if TiDB does not know it.
    """
    name = (cursor.string() if cursor.is_string() else cursor.identifier("a charset")).lower()
    name = CHARSET_ALIASES.get(name, name)
    if name not in DEFAULT_COLLATIONS:
        raise cursor.unsupported(f"the charset {name}")
    return name


def read_collation(cursor: Cursor) -> str:
    """Read the name of a collation.

    :raises UnsupportedSQL: if this tool cannot sort by it.
    """
    name = (cursor.string() if cursor.is_string() else cursor.identifier("a collation")).lower()
    name = name.replace("utf8mb3_", "utf8_")
    if name not in KNOWN:
        raise cursor.unsupported(f"the collation {name}")
    return name


def make_column(draft: ColumnDraft, charset: str, collation: str, mode: SQLMode) -> ColumnInfo:
    """Build a column from its draft.

    :param charset: charset of the table, for a column without its own; ``collation`` likewise.

    :raises ScenarioError: for attributes that do not fit the type.
    """
    charset, collation = _charset_of(draft, charset, collation)
    spec = fitted_lob(draft.spec, charset)
    column = ColumnInfo(
        name=draft.name,
        type=spec.type,
        length=spec.length,
        decimal=spec.decimal,
        unsigned=spec.unsigned,
        zerofill=spec.zerofill,
        charset=charset,
        collation=collation,
        elements=spec.elements,
        nullable=draft.nullable is not False,
        on_update_now=draft.on_update_now >= 0,
        auto_increment=draft.auto_increment,
        auto_random=draft.auto_random,
        generated=draft.generated,
        expression=draft.expression,
        comment=draft.comment,
    )
    _check(draft, column)
    if draft.default is None and draft.default_now < 0 and column.type == T.YEAR and draft.nullable is False:
        # TiDB records 0000 as the default of YEAR NOT NULL, but still requires a value.
        return replace(column, default=b"0")
    return with_default(column, draft.default, draft.default_now, mode, draft.line)


def _charset_of(draft: ColumnDraft, charset: str, collation: str) -> tuple[str, str]:
    if not draft.spec.bears_charset or draft.spec.binary:
        return "binary", "binary"
    if draft.collation:
        own = charset_of(draft.collation)
        if draft.charset and draft.charset != own:
            what = f"collation {draft.collation} does not belong to charset {draft.charset}"
            raise ScenarioError(what, line=draft.line, column=draft.name)
        return own, draft.collation
    if draft.charset:
        return draft.charset, DEFAULT_COLLATIONS[draft.charset]
    return charset, collation


def _check(draft: ColumnDraft, column: ColumnInfo) -> None:
    def fail(what: str) -> ScenarioError:
        return ScenarioError(what, line=draft.line, column=column.name)

    longest = MAX_VARCHAR // WIDEST.get(column.charset, 4)
    if column.type == T.VARCHAR and column.length > longest:
        raise fail(f"Column length too big for column {column.name!r} (max = {longest})")
    if column.auto_increment and column.type not in INTEGERS:
        if column.type in (T.FLOAT, T.DOUBLE):
            raise UnsupportedSQL(
                "AUTO_INCREMENT on a floating point column is not supported", line=draft.line
            )
        raise fail(f"AUTO_INCREMENT is for integers only, column {column.name!r} is not one")
    moving = column.type in (T.TIMESTAMP, T.DATETIME) and draft.on_update_now == max(column.decimal, 0)
    if draft.on_update_now >= 0 and not moving:
        raise fail(f"Invalid ON UPDATE clause for {column.name!r} column")
    defaulted = draft.default is not None or draft.default_now >= 0
    if column.auto_increment and defaulted:
        raise fail(f"Invalid default value for {column.name!r}: AUTO_INCREMENT makes its values")
    if column.generated and (defaulted or column.auto_increment or column.on_update_now):
        clause = "DEFAULT" if defaulted else "AUTO_INCREMENT" if column.auto_increment else "ON UPDATE"
        raise fail(f"Incorrect usage of {clause} and generated column")
    _check_elements(column, fail)


def _check_elements(column: ColumnInfo, fail: Callable[[str], ScenarioError]) -> None:
    """Members of ENUM and SET must differ under the column's collation."""
    keys = [sort_key(name.encode("utf-8", "surrogateescape"), column.collation) for name in column.elements]
    for position, key in enumerate(keys):
        if key in keys[:position]:
            kind = "ENUM" if column.type == T.ENUM else "SET"
            raise fail(f"Column {column.name!r} has duplicated value {column.elements[position]!r} in {kind}")
