"""Statements about sequences and placement policies, which TiCDC does not send.

Rules: tidb ``parser.y`` (``CreateSequenceStmt``, ``CreatePolicyStmt``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ticdc_producer.scenario.sql.syntax.names import (
    TableName,
    accept_if_exists,
    accept_if_not_exists,
    read_table_name,
    read_word_or_string,
)
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText

UnsentKind: TypeAlias = Literal["SEQUENCE", "PLACEMENT POLICY"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsent:
    """A statement about a sequence or a placement policy, which TiCDC does not send.

    :param verb: CREATE, ALTER or DROP.
    :param options: of a sequence, by their names; None for those without a number. Those of a policy are not
        read.
    """

    verb: str
    kind: UnsentKind
    name: TableName
    conditional: bool = False
    options: tuple[tuple[str, int | None], ...] = ()
    source: SourceText = field(compare=False, repr=False)


def read_unsent(verb: str, kind: UnsentKind) -> Callable[[Cursor], Unsent]:
    """Return the function that reads the rest of a statement of a kind."""

    def read(cursor: Cursor) -> Unsent:
        start = cursor.position
        conditional = accept_if_not_exists(cursor) if verb == "CREATE" else accept_if_exists(cursor)
        name = read_table_name(cursor)
        options = _sequence_options(cursor) if kind == "SEQUENCE" else ()
        if kind != "SEQUENCE" and verb != "DROP":  # its options change nothing that a consumer receives
            cursor.position = len(cursor.statement.tokens)
        source = cursor.since(start)
        return Unsent(
            verb=verb, kind=kind, name=name, conditional=conditional, options=options, source=source
        )

    return read


def _sequence_options(cursor: Cursor) -> tuple[tuple[str, int | None], ...]:
    """Read the options of CREATE or ALTER SEQUENCE."""
    options: list[tuple[str, int | None]] = []
    while not cursor.at_end:
        without = bool(cursor.accept("NO"))
        word = cursor.accept_any(
            "INCREMENT", "MINVALUE", "NOMINVALUE", "MAXVALUE", "NOMAXVALUE", "START", "RESTART", "CACHE",
            "NOCACHE", "CYCLE", "NOCYCLE", "COMMENT", "ENGINE",
        )  # fmt: skip
        name, without = word.removeprefix("NO"), without or word.startswith("NO")
        if not word or (without and name not in ("MINVALUE", "MAXVALUE", "CACHE", "CYCLE")):
            raise cursor.error("expected an option of a sequence")
        for filler in ("BY", "WITH", "="):
            cursor.accept(filler)
        if name == "COMMENT":
            cursor.string()
        elif name == "ENGINE":
            read_word_or_string(cursor)
        elif name == "CYCLE" or without:
            value = {"CYCLE": int(not without), "CACHE": 1}.get(name)  # a cache of one number is none
            options.append((name, value))
        elif name == "RESTART" and cursor.word() != "-" and not cursor.word().isdigit():
            options.append((name, None))
        else:
            sign = -1 if cursor.accept("-") else 1
            options.append((name, sign * cursor.integer()))
    return tuple(options)
