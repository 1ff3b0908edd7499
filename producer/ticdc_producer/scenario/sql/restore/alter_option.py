"""The parts of ALTER TABLE that set table options, as TiDB prints them."""

from __future__ import annotations

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.names import accept_charset_words, read_charset, read_collation
from ticdc_producer.scenario.sql.restore.table_option import PLACEMENT, read_table_options, with_ttl_disabled


def read_options(cursor: Cursor) -> str | None:
    """One or more options without commas; None if TiDB prints none of them.

    :raises UnsupportedSQL: if no option comes next.
    """
    start = cursor.position
    options = read_table_options(cursor, commas=False)
    if start == cursor.position:
        raise cursor.unsupported(f"ALTER TABLE … {cursor.word() or 'this'}")
    printed = with_ttl_disabled(options)
    if not printed or all(option.kind == PLACEMENT for option in options):
        return None
    if [option.kind for option in printed] == ["CHARSET", "COLLATE"]:
        charset, collation = printed
        return f"CHARACTER SET {charset.value.upper()} COLLATE {collation.value.upper()}"
    return " ".join(option.text for option in printed)


def read_conversion(cursor: Cursor) -> str:
    """``CONVERT TO CHARACTER SET``, after TO."""
    if not accept_charset_words(cursor):
        raise cursor.error("expected CHARACTER SET")
    charset = cursor.accept_any("DEFAULT") or read_charset(cursor).upper()
    collation = f" COLLATE {read_collation(cursor).upper()}" if cursor.accept("COLLATE") else ""
    return f"CONVERT TO CHARACTER SET {charset}{collation}"
