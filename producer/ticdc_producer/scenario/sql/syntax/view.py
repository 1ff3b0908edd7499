"""``CREATE VIEW``.

Rules: tidb ``parser.y`` (``CreateViewStmt``).
"""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.scenario.sql.syntax.names import TableName, read_table_name
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateView:
    """``CREATE VIEW``.

    :param definer: user and host; empty for the current user.
    :param columns: the names that the statement lists itself.
    :param query: without the check option.
    :param check: LOCAL or CASCADED; empty without.
    """

    view: TableName
    replacing: bool = False
    algorithm: str = "UNDEFINED"
    definer: tuple[str, ...] = ()
    security: str = "DEFINER"
    columns: tuple[str, ...] = ()
    query: SourceText
    check: str = ""


def read_create_view(cursor: Cursor) -> CreateView:
    """Read ``CREATE … VIEW``, after CREATE."""
    replacing = cursor.accept("OR", "REPLACE")
    algorithm = _choice(cursor, "ALGORITHM", "UNDEFINED", "MERGE", "TEMPTABLE")
    definer = _definer(cursor)
    security = "DEFINER"
    if cursor.accept("SQL", "SECURITY"):
        security = _one_of(cursor, "DEFINER", "INVOKER")
    cursor.expect("VIEW")
    view = read_table_name(cursor)
    columns = cursor.column_names() if cursor.word() == "(" else ()
    cursor.expect("AS")
    if cursor.word() not in ("SELECT", "WITH", "TABLE", "VALUES", "("):
        raise cursor.error("expected SELECT")
    query, check = _query_and_check(cursor)
    return CreateView(
        view=view,
        replacing=replacing,
        algorithm=algorithm,
        definer=definer,
        security=security,
        columns=columns,
        query=query,
        check=check,
    )


def _query_and_check(cursor: Cursor) -> tuple[SourceText, str]:
    """Read the rest of the statement, and the check option at its end."""
    statement, start = cursor.statement, cursor.position
    cursor.position = end = len(statement.tokens)
    if (statement.word(end - 2), statement.word(end - 1)) != ("CHECK", "OPTION"):
        return SourceText(statement, start, end), ""
    kind = statement.word(end - 3) if statement.word(end - 3) in ("LOCAL", "CASCADED") else ""
    end -= 4 if kind else 3
    return SourceText(statement, start, end), kind or "CASCADED"


def _choice(cursor: Cursor, word: str, default: str, *others: str) -> str:
    if not cursor.accept(word):
        return default
    cursor.expect("=")
    return _one_of(cursor, default, *others)


def _one_of(cursor: Cursor, *choices: str) -> str:
    choice = cursor.accept_any(*choices)
    if not choice:
        raise cursor.error(f"expected {' or '.join(choices)}")
    return choice


def _definer(cursor: Cursor) -> tuple[str, ...]:
    if not cursor.accept("DEFINER"):
        return ()
    cursor.expect("=")
    if cursor.accept("CURRENT_USER"):
        cursor.accept("(", ")")
        return ()
    user = _user_part(cursor)
    return user, _user_part(cursor) if cursor.accept("@") else "%"


def _user_part(cursor: Cursor) -> str:
    return cursor.string() if cursor.is_string() else cursor.identifier("a user")
