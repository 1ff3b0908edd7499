"""Builds the ``ColumnInfo`` of a column definition.

Rules: tidb ``pkg/ddl/add_column.go`` (``columnDefToCol``, ``setCharsetCollationFlenDecimal``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo, Generated
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, MySQLType
from ticdc_producer.model.values.collation import DEFAULT_COLLATIONS, charset_of, sort_key
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.definition.charset import (
    check_charset_of,
    known_charset,
    known_collation,
)
from ticdc_producer.scenario.sql.definition.column_default import with_default
from ticdc_producer.scenario.sql.definition.column_type import (
    SQLType,
    fitted_lob,
    longest_varchar,
    type_spec,
)
from ticdc_producer.scenario.sql.syntax.column import (
    Attribute,
    AutoRandom,
    Column,
    ColumnOption,
    GeneratedAs,
    InlineKey,
    OnUpdate,
)
from ticdc_producer.scenario.sql.syntax.default import Default
from ticdc_producer.scenario.sql.syntax.key import Check, References

T = MySQLType


@dataclass(slots=True, kw_only=True)
class ColumnDraft:
    """A parsed column definition, before the table's charset is known.

    :param by_bytes: whether the word BINARY after the type requests the ``_bin`` collation of the charset.
    :param nullable: None if the definition has neither NULL nor NOT NULL.
    :param names_null: whether it has NULL, even if NOT NULL follows.
    :param on_update_now: fractional digits of ``ON UPDATE CURRENT_TIMESTAMP``; -1 without it.
    :param keys: ``primary`` or ``unique`` for each inline key.
    :param global_keys: those of them that are GLOBAL.
    :param constraint: ``references`` or ``check`` if the definition has one, else empty.
    :param clustered: CLUSTERED or NONCLUSTERED of an inline PRIMARY KEY; None if neither is given.
    """

    name: str
    spec: SQLType
    line: int
    charset: str = ""
    collation: str = ""
    by_bytes: bool = False
    nullable: bool | None = None
    names_null: bool = False
    default: Default | None = None
    on_update_now: int = -1
    auto_increment: bool = False
    comment: str = ""
    keys: list[str] = field(default_factory=list)
    global_keys: set[str] = field(default_factory=set)
    constraint: str = ""
    clustered: bool | None = None
    generated: Generated = ""
    expression: str = ""
    auto_random: tuple[int, int] | None = None


def check_primary_column(draft: ColumnDraft) -> None:
    """Check that a column of a primary key is neither NULL nor DEFAULT NULL.

    Source: tidb ``checkPriKeyConstraint``.

    :raises ScenarioError: if it is.
    """
    default = "" if draft.default is None else draft.default.value.text
    if draft.names_null or default.upper() == "NULL":
        what = "All parts of a PRIMARY KEY must be NOT NULL"
        raise ScenarioError(what, line=draft.line, column=draft.name)


def draft_column(column: Column) -> ColumnDraft:
    """Return the draft of a column definition.

    :raises UnsupportedSQL: for attributes, charsets and collations that this tool does not support.
    """
    source = column.source
    draft = ColumnDraft(name=column.name[-1], spec=type_spec(column.type), line=source.line)
    draft.by_bytes = column.type.binary
    if column.type.charset:
        draft.charset = known_charset(column.type.charset, column.type.source)
    if draft.spec.serial:
        _add_serial(draft)
    for attribute in column.attributes:
        _add_attribute(attribute, draft)
    return draft


def check_owner(column: Column, schema: str, table: str) -> None:
    """Check the names of database and table before the name of a defined column.

    :raises ScenarioError: if they are not those of the table.
    """
    *owners, _ = column.name
    for kind, name, own in zip(("table", "database"), reversed(owners), (table, schema), strict=False):
        if name.lower() != own.lower():
            raise ScenarioError(f"Incorrect {kind} name {name!r}", line=column.source.line, value=name)


def _add_serial(draft: ColumnDraft) -> None:
    draft.nullable, draft.auto_increment = False, True
    draft.keys.append("unique")


def _add_attribute(attribute: Attribute, draft: ColumnDraft) -> None:
    match attribute:
        case Default():
            draft.default = attribute
        case OnUpdate(now=now):
            draft.on_update_now = now.digits
        case InlineKey():
            draft.keys.append("primary" if attribute.primary else "unique")
            draft.global_keys |= {draft.keys[-1]} if attribute.is_global else set()
            if attribute.primary:
                draft.clustered = attribute.clustered == "CLUSTERED" if attribute.clustered else None
        case GeneratedAs(expression=expression, stored=stored):
            draft.expression, draft.generated = expression.text, "stored" if stored else "virtual"
        case AutoRandom(bits=bits):
            draft.auto_random = (bits[0] if bits else 5, bits[1] if len(bits) > 1 else 64)
        case ColumnOption():
            _add_option(attribute, draft)
        case References():
            draft.constraint = "references"  # TiDB ignores it in a new column
        case Check():
            draft.constraint = "check"  # ignored unless tidb_enable_check_constraint is on


def _add_option(option: ColumnOption, draft: ColumnDraft) -> None:
    match option.kind:
        case "NOT NULL" | "NULL":
            draft.nullable = option.kind == "NULL"
            draft.names_null |= draft.nullable
        case "AUTO_INCREMENT":
            draft.nullable, draft.auto_increment = False, True  # a NULL after it counts
        case "SERIAL DEFAULT VALUE":
            _add_serial(draft)
        case "COMMENT":
            draft.comment = option.value
        case "COLLATE":
            collation = known_collation(option.value, option.source)
            check_charset_of(collation, draft.charset or _charset_of_type(draft.spec), draft.line, draft.name)
            draft.charset, draft.collation = charset_of(collation), collation
        case "CHARSET":
            draft.charset = known_charset(option.value, option.source)
        case _:
            raise option.source.unsupported(f"the column attribute {option.kind}")


def make_column(draft: ColumnDraft, charset: str, collation: str, mode: SQLMode) -> ColumnInfo:
    """Build a column from its draft.

    :param charset: charset of the table, for a column without its own.
    :param collation: collation of the table, for a column without its own.

    :raises ScenarioError: for attributes that do not fit the type.
    """
    charset, collation = _charset_of(draft, charset, collation)
    spec = fitted_lob(draft.spec, charset, strict=mode.strict)
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
        nullable=draft.nullable is not False and "primary" not in draft.keys,
        on_update_now=draft.on_update_now >= 0,
        auto_increment=draft.auto_increment,
        auto_random=draft.auto_random,
        generated=draft.generated,
        expression=draft.expression,
        comment=draft.comment,
    )
    _check(draft, column)
    if draft.default is None and column.type == T.YEAR and draft.nullable is False:
        # TiDB records 0000 as the default of YEAR NOT NULL, but still requires a value.
        return replace(column, default=b"0")
    return with_default(column, draft.default, mode, draft.line)


def _charset_of_type(spec: SQLType) -> str:
    """Return the charset that a type has by itself; empty for texts, numbers and times."""
    return "binary" if spec.binary or spec.type == T.JSON else ""


def _charset_of(draft: ColumnDraft, charset: str, collation: str) -> tuple[str, str]:
    if not draft.spec.bears_charset or draft.spec.binary:
        return "binary", "binary"
    if draft.collation:
        return charset_of(draft.collation), draft.collation
    if draft.by_bytes:
        return draft.charset or charset, f"{draft.charset or charset}_bin"
    if draft.charset:
        return draft.charset, DEFAULT_COLLATIONS[draft.charset]
    return charset, collation


def _check(draft: ColumnDraft, column: ColumnInfo) -> None:
    def fail(what: str) -> ScenarioError:
        return ScenarioError(what, line=draft.line, column=column.name)

    longest = longest_varchar(column.charset)
    if column.type == T.VARCHAR and column.length > longest:
        what = f"Column length too big for column {column.name!r} (max = {longest})"
        raise fail(f"{what}; use BLOB or TEXT instead")
    if column.auto_increment and column.type not in INTEGERS | FLOATS:
        raise fail(f"AUTO_INCREMENT is for numbers only, column {column.name!r} is not one")
    moving = column.type in (T.TIMESTAMP, T.DATETIME) and draft.on_update_now == max(column.decimal, 0)
    if draft.on_update_now >= 0 and not moving:
        raise fail(f"Invalid ON UPDATE clause for {column.name!r} column")
    defaulted = draft.default is not None
    if column.auto_increment and defaulted:
        raise fail(f"Invalid default value for {column.name!r}: AUTO_INCREMENT makes its values")
    if column.generated and (defaulted or column.auto_increment or column.on_update_now):
        clause = "DEFAULT" if defaulted else "AUTO_INCREMENT" if column.auto_increment else "ON UPDATE"
        raise fail(f"Incorrect usage of {clause} and generated column")
    _check_elements(column, fail)


def _check_elements(column: ColumnInfo, fail: Callable[[str], ScenarioError]) -> None:
    """Check that the members of ENUM and SET are short, and differ, under the column's collation.

    An ENUM may have any number of them. Source: tidb ``checkColumnValueConstraint``.
    """
    keys = set[bytes]()
    for name in column.elements:
        key = sort_key(name.encode("utf-8", "surrogateescape"), column.collation)
        if len(key) > _LONGEST_MEMBER:
            raise fail(f"Too long enumeration/set value for column {column.name}.")
        if key in keys:
            kind = "ENUM" if column.type == T.ENUM else "SET"
            raise fail(f"Column {column.name!r} has duplicated value {name!r} in {kind}")
        keys.add(key)


_LONGEST_MEMBER = 255
"""Bytes of the sort key of a member: with the default ``enable-enum-length-limit``."""
