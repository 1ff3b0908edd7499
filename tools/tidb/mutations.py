"""Mutations of the recorded cases: other types, literals, functions and SQL modes in the same statements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from random import Random

from tests.scenario.sql.tidb_results import cases_of

_TOKEN = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|x'[0-9a-fA-F]*'|0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|\s+|.",
    re.DOTALL,
)
_TYPE = re.compile(
    r"\b(?:TINYINT|SMALLINT|MEDIUMINT|INT|BIGINT|DECIMAL|FLOAT|DOUBLE|DATE|DATETIME|TIMESTAMP|TIME|YEAR|CHAR"
    r"|VARCHAR|VARBINARY|BINARY|TEXT|BLOB|JSON|BIT)\b(?:\(\d+(?:,\s*\d+)?\))?(?: UNSIGNED)?(?!\s*\()",
    re.IGNORECASE,
)
_CALL = re.compile(r"\b([A-Z_0-9]{2,})\(")
_NO_FUNCTIONS = frozenset({
    "ADD", "ALL", "AND", "ANY", "AS", "BIGINT", "BINARY", "BIT", "BLOB", "BY", "CHAR", "CHECK", "COLUMN",
    "COLUMNS", "DATETIME", "DECIMAL", "DOUBLE", "ENUM", "EXISTS", "FLOAT", "FROM", "HASH", "IN", "INDEX",
    "INT", "INTO", "KEY", "LIST", "NOT", "ON", "OR", "OVER", "RANGE", "RECURSIVE", "REFERENCES", "SELECT",
    "SET", "TABLE", "TEXT", "THAN", "TIME", "TIMESTAMP", "TINYINT", "UNIQUE", "USING", "VALUES",
    "VARBINARY", "VARCHAR", "WHERE", "YEAR",
})  # fmt: skip
TYPES = (
    "TINYINT", "SMALLINT", "INT", "BIGINT", "TINYINT UNSIGNED", "INT UNSIGNED", "BIGINT UNSIGNED",
    "DECIMAL(10,2)", "DECIMAL(20,6)", "DECIMAL(5,0)", "DECIMAL(65,30)", "FLOAT", "DOUBLE", "DATE", "DATETIME",
    "DATETIME(3)", "DATETIME(6)", "TIMESTAMP", "TIMESTAMP(3)", "TIME", "TIME(3)", "YEAR", "CHAR(5)",
    "VARCHAR(10)", "VARCHAR(100)", "VARBINARY(20)", "BINARY(4)", "TEXT", "BLOB", "JSON", "BIT(1)", "BIT(8)",
    "BIT(64)", "ENUM('a','b','1')", "SET('a','b','c')",
)  # fmt: skip
NUMBERS = (
    "NULL", "TRUE", "0", "1", "-1", "2", "3", "7", "10", "12", "70", "99", "100", "127", "128", "255", "256",
    "1901", "2155", "2156", "32768", "65536", "2147483647", "2147483648", "4294967296", "20210304",
    "20210304050607", "9223372036854775807", "9223372036854775808", "18446744073709551615",
    "18446744073709551616", "0.1", "0.5", "1.0", "1.5", "-0.4", "-5", "123456789.987654321", "1e1", "1e20",
    "1e-5", "0x41", "b'101'",
)  # fmt: skip
TEXTS = (
    "''", "'a'", "'b'", "'A'", "'abc'", "'é'", "'日本'", "'zz'", "'a,b'", "'1'", "'-1'", "'1.5'", "'1.25 '",
    "' 7 '", "'3x'", "'1e3'", "'0x1F'", "'99999'", "'true'", "'null'", "'[1,2]'", "'{\"a\": 1}'", "'10:11'",
    "'12:34:56'", "'-12:34:56.7'", "'23:59:59.999999'", "'838:59:59'", "'20210304'", "'2021-03-04'",
    "'2024-02-29'", "'2021-02-30'", "'2021-13-01'", "'0000-00-00'", "'2021-03-04 05:06:07'",
    "'2021-03-04 05:06:07.891'", "'2021-03-04T05:06:07Z'", "x'41'", "x'ff'",
)  # fmt: skip
MODES = (
    "", "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES,NO_ZERO_DATE", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES",
    "PIPES_AS_CONCAT", "NO_UNSIGNED_SUBTRACTION", "ALLOW_INVALID_DATES",
    "NO_ZERO_IN_DATE,NO_ZERO_DATE,STRICT_TRANS_TABLES",
)  # fmt: skip
_OTHER_MODE = 0.12
"""How often a script gets another SQL mode."""


class Mutator:
    """The cases of an area, and the words that their mutations take.

    :param area: a file of recorded cases.
    :param random: decides the mutations.
    """

    def __init__(self, area: str, random: Random) -> None:
        self._random = random
        self._scripts = [[statement for statement, _ in case.statements] for case in cases_of(area)]
        statements = [statement for script in self._scripts for statement in script]
        tokens = [token for statement in statements for token in _TOKEN.findall(statement)]
        self._texts = _distinct(token for token in tokens if token[0] == "'")
        self._numbers = _distinct(token for token in tokens if token[0].isdigit())
        self._functions = _distinct(name for statement in statements for name in _calls(statement))

    def script(self) -> list[str]:
        """Return the statements of a case with one to three mutations."""
        random = self._random
        script = [*random.choice(self._scripts)]
        numbers = [number for number, text in enumerate(script) if not text.startswith("SET ")]
        for _ in range(random.choice((1, 1, 2, 3)) if numbers else 0):
            number = random.choice(numbers)
            script[number] = self._mutated(script[number])
        if random.random() < _OTHER_MODE:
            first = next((number for number, text in enumerate(script) if not text.startswith("SET ")), 0)
            script.insert(first, f"SET sql_mode = '{random.choice(MODES)}'")
        return script

    def _mutated(self, statement: str) -> str:
        kind, types = self._random.random(), [*_TYPE.finditer(statement)]
        if types and statement.upper().startswith("CREATE TABLE") and kind < 0.6:
            return self._replaced(statement, types, TYPES)
        calls = [match for match in _CALL.finditer(statement) if match[1] not in _NO_FUNCTIONS]
        if calls and kind < 0.25:
            return self._replaced(statement, calls, [f"{name}(" for name in self._functions])
        literals = [
            match for match in _TOKEN.finditer(statement) if match[0][0] == "'" or match[0][0].isdigit()
        ]
        if not literals:
            return statement
        literal = self._random.choice(literals)
        same, own, other = (
            (TEXTS, self._texts, NUMBERS) if literal[0][0] == "'" else (NUMBERS, self._numbers, TEXTS)
        )
        pool = self._random.choices((same, own, other), (8, 7, 5))[0]
        return self._replaced(statement, [literal], pool)

    def _replaced(self, statement: str, matches: Sequence[re.Match[str]], pool: Sequence[str]) -> str:
        match = self._random.choice(matches)
        return statement[: match.start()] + self._random.choice(pool) + statement[match.end() :]


def _calls(statement: str) -> list[str]:
    return [name for name in _CALL.findall(statement) if name not in _NO_FUNCTIONS]


def _distinct(words: Iterable[str]) -> list[str]:
    return [*dict.fromkeys(words)]
