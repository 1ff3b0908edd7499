"""Smaller variants of a script: fewer statements, rows, columns and clauses, and simpler values.

The edits know enough SQL to keep most variants valid. A variant that is not valid is not smaller: it fails
before a testee sees it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ticdc_producer.conformance.fuzz.sql_parts import SQLParts, without
from ticdc_producer.scenario.sql.text.statements import split_statements

Script = tuple[str, ...]

_BEGIN, _COMMIT = ("BEGIN", "START"), ("COMMIT",)
_OF_NO_TABLE = (*_BEGIN, *_COMMIT, "USE", "SET")
_FIRST_VALUE = re.compile(r"(?:VALUES\s*\(|<=>)\s*('(?:[^']|'')*'|[^\s,)]+)", re.IGNORECASE)
_SIMPLE = ("1", "'a'", "NULL")


def statements_of(text: str) -> Script:
    """Return the statements of a scenario's SQL.

    :raises ScenarioError: where a quote or comment is not closed.
    """
    return tuple(statement.text for statement in split_statements(text))


def without_statements(script: Script, size: int) -> Iterator[Script]:
    """Yield variants without a run of ``size`` units. A transaction is one unit, or its statements are."""
    for units in (_transactions(script), [[statement] for statement in script]):
        for start in range(0, len(units), size):
            rest = [statement for unit in (*units[:start], *units[start + size :]) for statement in unit]
            if _is_balanced(rest) and len(rest) < len(script):
                yield tuple(rest)


def without_transactions(script: Script) -> Iterator[Script]:
    """Yield variants without the BEGIN and COMMIT of one transaction."""
    units = _transactions(script)
    for index, unit in enumerate(units):
        if len(unit) > 1:
            rest = [*units[:index], unit[1:-1], *units[index + 1 :]]
            yield tuple(statement for part in rest for statement in part)


def _transactions(script: Sequence[str]) -> list[list[str]]:
    units: list[list[str]] = []
    inside = False
    for statement in script:
        verb = statement.split(None, 1)[0].upper()
        if inside:
            units[-1].append(statement)
        else:
            units.append([statement])
        inside = (inside or verb in _BEGIN) and verb not in _COMMIT
    return units


def _is_balanced(script: Sequence[str]) -> bool:
    depth = 0
    for statement in script:
        verb = statement.split(None, 1)[0].upper()
        depth += (verb in _BEGIN) - (verb in _COMMIT)
        if depth not in (0, 1):
            return False
    return depth == 0


def without_tables(script: Script) -> Iterator[Script]:
    """Yield variants without the statements about some tables: halves of the tables first, then fewer."""
    parsed = map(SQLParts.of, script)
    names = [None if part is None or part.verb in _OF_NO_TABLE else part.table() for part in parsed]
    yield from _without_groups(script, names)


def without_keys(script: Script) -> Iterator[Script]:
    """Yield variants without the changes of some rows: halves of the rows first, then fewer.

    A row is known by the first value of an INSERT, or of a condition.
    """
    yield from _without_groups(script, [_key(text) for text in script])


def _key(text: str) -> str | None:
    parsed = SQLParts.of(text)
    match = _FIRST_VALUE.search(text) if parsed and parsed.verb in ("INSERT", "UPDATE", "DELETE") else None
    return None if parsed is None or match is None else f"{parsed.table()} {match[1]}"


def _without_groups(script: Script, groups: Sequence[str | None]) -> Iterator[Script]:
    names = [*dict.fromkeys(name for name in groups if name is not None)]
    size = max(1, len(names) // 2)
    while size and len(names) > 1:
        for start in range(0, len(names), size):
            left_out = {*names[start : start + size]}
            rest = [text for text, name in zip(script, groups, strict=True) if name not in left_out]
            if _is_balanced(rest):
                yield tuple(rest)
        size //= 2


def without_rows(script: Script) -> Iterator[Script]:
    """Yield variants in which one INSERT has fewer rows."""
    for index, text in enumerate(script):
        parsed = SQLParts.of(text)
        rows = parsed.rows() if parsed else []
        for number in range(len(rows)) if len(rows) > 1 else ():
            yield _replaced(script, index, without(text, rows, {number}))


def without_columns(script: Script) -> Iterator[Script]:
    """Yield variants in which a table lacks a column, and statements do not set it."""
    for index, text in enumerate(script):
        parsed = SQLParts.of(text)
        if parsed is not None and (added := parsed.added_column()):
            rest = (*script[:index], *script[index + 1 :])
            yield _without_column(rest, index - 1, parsed.table(), added, -1)
        if parsed is None or parsed.verb != "CREATE" or parsed.word(1) != "TABLE":
            continue
        elements = parsed.elements()
        columns = [number for number, span in enumerate(elements) if parsed.names_column(span)]
        for number in range(len(elements)) if len(columns) > 1 or len(elements) > len(columns) else ():
            if number not in columns:
                yield _replaced(script, index, without(text, elements, {number}))
            elif len(columns) > 1:
                name, position = parsed.first_word(elements[number]), columns.index(number)
                created = _replaced(script, index, parsed.create_without(number))
                yield _without_column(created, index, parsed.table(), name, position)


def _without_column(script: Script, index: int, table: str, name: str, position: int) -> Script:
    changed: list[str] = []
    for number, text in enumerate(script):
        parsed = SQLParts.of(text) if number > index else None
        if parsed is None or parsed.table() != table:
            changed.append(text)
        elif parsed.verb == "INSERT":
            changed.append(parsed.insert_without(name, position))
        elif parsed.verb in ("UPDATE", "DELETE"):
            changed += parsed.change_without(name)
        else:
            changed.append(text)
    return tuple(changed)


def with_fewer_clauses(script: Script) -> Iterator[Script]:
    """Yield variants with shorter definitions: no partitions, no column attributes, fewer assignments."""
    for index, text in enumerate(script):
        parsed = SQLParts.of(text)
        if parsed is None:
            continue
        for shorter in (*parsed.shorter_definitions(), *parsed.fewer_assignments()):
            yield _replaced(script, index, shorter)


def with_simpler_values(script: Script) -> Iterator[Script]:
    """Yield variants in which one value of an INSERT or UPDATE is a short one."""
    for index, text in enumerate(script):
        parsed = SQLParts.of(text)
        for start, end in parsed.cells() if parsed else ():
            old = text[start:end]
            for new in _SIMPLE if old not in _SIMPLE[:2] else ():
                if len(new) < len(old) or (old == "NULL" and new != old):
                    yield _replaced(script, index, text[:start] + new + text[end:])


def _replaced(script: Script, index: int, text: str) -> Script:
    return (*script[:index], text, *script[index + 1 :])
