"""The charset and the collation that a definition names, and those that follow from the other one."""

from __future__ import annotations

from collections.abc import Iterable

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.collation import DEFAULT_COLLATIONS, KNOWN, charset_of
from ticdc_producer.scenario.sql.syntax.table_option import TableOption
from ticdc_producer.scenario.sql.text.cursor import SourceText


def known_charset(name: str, source: SourceText) -> str:
    """Check a charset, and return its name.

    :raises UnsupportedSQL: if TiDB does not know it.
    """
    if name not in DEFAULT_COLLATIONS:
        raise source.unsupported(f"the charset {name}")
    return name


def known_collation(name: str, source: SourceText) -> str:
    """Check a collation, and return its name.

    :raises UnsupportedSQL: if this tool cannot sort by it.
    """
    if name not in KNOWN:
        raise source.unsupported(f"the collation {name}")
    return name


def check_charset_of(collation: str, charset: str, line: int, column: str = "") -> None:
    """Check that a collation belongs to a charset.

    :param charset: empty if nothing names one.
    :raises ScenarioError: if it does not.
    """
    if charset and charset_of(collation) != charset:
        what = f"collation {collation} does not belong to charset {charset}"
        raise ScenarioError(what, line=line, column=column)


def charset_of_options(options: Iterable[TableOption]) -> tuple[str, str]:
    """Return the charset and the collation that options name; empty without.

    Source: tidb ``GetCharsetAndCollateInTableOption``.

    :raises UnsupportedSQL: for one that TiDB or this tool does not know.
    :raises ScenarioError: for two charsets, and for a collation of another charset.
    """
    charset = collation = ""
    for option in options:
        if option.kind == "CHARSET":
            name = known_charset(option.value, option.source)
            if charset not in ("", name):
                what = f"Conflicting declarations: 'CHARACTER SET {charset}' and 'CHARACTER SET {name}'"
                raise ScenarioError(what, line=option.source.line, value=name)
            charset, collation = name, collation or DEFAULT_COLLATIONS[name]
        elif option.kind == "COLLATE":
            collation = known_collation(option.value, option.source)
            check_charset_of(collation, charset, option.source.line)
            charset = charset_of(collation)
    return charset, collation
