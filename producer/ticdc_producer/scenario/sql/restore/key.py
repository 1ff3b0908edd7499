"""Keys and other constraints of a table as TiDB prints them.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``Constraint``, ``ReferenceDef``, ``IndexOption``): options are in a
fixed order, and each is printed once.
"""

from __future__ import annotations

from collections.abc import Iterable

from ticdc_producer.scenario.sql.restore.grammar import printed
from ticdc_producer.scenario.sql.restore.names import (
    IF_NOT_EXISTS,
    column_text,
    quote_string,
    table_text,
    tidb_comment,
)
from ticdc_producer.scenario.sql.syntax.key import (
    Check,
    Constraint,
    ForeignKey,
    IndexOption,
    KeyPart,
    References,
)
from ticdc_producer.scenario.sql.text.spelling import quoted_name

_ORDER = (
    "CLUSTERED", "KEY_BLOCK_SIZE", "USING", "PARSER", "COMMENT", "GLOBAL", "VISIBLE", "PRE_SPLIT_REGIONS",
    "SECONDARY_ENGINE_ATTRIBUTE", "WHERE",
)  # fmt: skip


def print_key(key: Constraint) -> str:
    """Print a key or another constraint; the symbol overrides the name of the index.

    :raises UnsupportedSQL: for a SPATIAL key, which TiDB does not support.
    """
    if isinstance(key, Check):
        return print_check(key)
    if isinstance(key, ForeignKey):
        return _foreign_key(key)
    if key.kind == "SPATIAL":
        raise key.source.unsupported("a SPATIAL index")
    word = f"{key.kind} INDEX" if key.kind in ("VECTOR", "COLUMNAR") else key.kind
    word += tidb_comment("", " IF NOT EXISTS") * key.if_not_exists
    name = quoted_name(key.symbol or key.name) if key.symbol or key.name else ""
    options = print_index_options(key.options)
    return f"{word}{' ' if name else ''}{name}({print_parts(key.parts)}){' ' if options else ''}{options}"


def print_parts(parts: Iterable[KeyPart]) -> str:
    """Print the columns and expressions of a key, without brackets around them."""
    return ", ".join(map(_part, parts))


def _part(part: KeyPart) -> str:
    direction = " DESC" * part.descending
    if part.expression is not None:
        return f"({printed(part.expression)}){direction}"
    length = "" if part.length < 0 else f"({part.length})"
    return column_text(part.name) + length + direction


def clustered_text(word: str) -> str:
    """Print `` CLUSTERED`` or `` NONCLUSTERED`` of a primary key, in a TiDB comment; empty without."""
    return f" {tidb_comment('clustered_index', word)}" if word else ""


def print_index_options(options: Iterable[IndexOption]) -> str:
    """Print the options of an index; the last of a kind counts."""
    texts = {option.kind: _option(option) for option in options}
    return " ".join(texts[kind] for kind in _ORDER if texts.get(kind))


def _option(option: IndexOption) -> str:
    value = option.value
    match option.kind:
        case "CLUSTERED":
            return clustered_text(value).strip()
        case "KEY_BLOCK_SIZE":
            return f"KEY_BLOCK_SIZE={value}" if int(value) else ""
        case "PARSER":
            return f"WITH PARSER {quoted_name(value)}"
        case "COMMENT":
            return f"COMMENT {quote_string(value)}" if value else ""
        case "GLOBAL":
            return tidb_comment("global_index", value) if value == "GLOBAL" else ""
        case "VISIBLE":
            return value
        case "PRE_SPLIT_REGIONS":
            return tidb_comment("pre_split", f"PRE_SPLIT_REGIONS = {value}")
        case "SECONDARY_ENGINE_ATTRIBUTE":
            return f"SECONDARY_ENGINE_ATTRIBUTE = {quote_string(value)}"
    return f"WHERE {printed(option.condition)}" if option.condition else f"{option.kind} {value}"


def _foreign_key(key: ForeignKey) -> str:
    name = f"{quoted_name(key.symbol or key.name)} " if key.symbol or key.name else ""
    if_not_exists = IF_NOT_EXISTS * key.if_not_exists
    references = print_references(key.references)
    return f"CONSTRAINT {name}FOREIGN KEY {if_not_exists}({print_parts(key.columns)}) {references}"


def print_references(references: References) -> str:
    """Print ``REFERENCES …``; TiDB prints ON DELETE before ON UPDATE."""
    text = f"REFERENCES {table_text(references.table)}"
    text += f"({print_parts(references.columns)})" if references.columns else ""
    text += f" MATCH {references.match}" if references.match else ""
    return text + "".join(f" ON {event} {action}" for event, action in references.rules)


def print_check(check: Check) -> str:
    """Print ``[CONSTRAINT symbol] CHECK (…) [NOT] ENFORCED``."""
    symbol = f"CONSTRAINT {quoted_name(check.symbol)} " if check.symbol else ""
    return f"{symbol}CHECK({printed(check.condition)}) {'NOT ' * (not check.enforced)}ENFORCED"
