"""Regular expressions in the syntax of Go, which is that of RE2.

Rules: tidb ``pkg/expression/builtin_regexp.go``. A search begins at a position: what precedes it is no
context for ``^`` or a word boundary. TiDB has no regular expressions on binary strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.eval_type import E
from ticdc_producer.scenario.sql.functions.function import Function, is_binary, to_integer

if TYPE_CHECKING:
    from re import Match, Pattern

_MATCH_TYPES = "icms"
_SINGLE_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")
"""A byte of a character, which Go does not have."""
_INSTRUCTION = re.compile(r"\\(.?)", re.DOTALL)
_MAX_PATTERN = 1 << 16


def _regexp_like(arguments: Sequence[SQLValue], _: SQLMode, collation: str) -> SQLValue:
    """Return ``REGEXP_LIKE(text, pattern[, match_type])``."""
    text, pattern = _operands("REGEXP_LIKE", arguments[:2])
    return _compiled("REGEXP_LIKE", pattern, arguments[2:], collation).search(text) is not None


def _regexp_substr(arguments: Sequence[SQLValue], _: SQLMode, collation: str) -> SQLValue:
    """Return ``REGEXP_SUBSTR(text, pattern[, position[, occurrence[, match_type]]])``: a match, or NULL."""
    text, pattern = _operands("REGEXP_SUBSTR", arguments[:2])
    searched = text[_start(text, arguments[2:3]) :]
    match = _nth(_compiled("REGEXP_SUBSTR", pattern, arguments[4:], collation), searched, arguments[3:4])
    return None if match is None else match.group()


def _regexp_instr(arguments: Sequence[SQLValue], _: SQLMode, collation: str) -> SQLValue:
    """Return ``REGEXP_INSTR(text, pattern[, position[, occurrence[, return_option[, match_type]]]])``.

    The result is the position of the match, or with the option 1 the one after it; 0 without a match.
    """
    text, pattern = _operands("REGEXP_INSTR", arguments[:2])
    start = _start(text, arguments[2:3])
    option = to_integer(arguments[4]) if arguments[4:] else 0
    if option not in (0, 1):
        raise ScenarioError("Incorrect arguments to regexp_instr: return_option must be 1 or 0")
    match = _nth(_compiled("REGEXP_INSTR", pattern, arguments[5:], collation), text[start:], arguments[3:4])
    return 0 if match is None else start + (match.end() if option else match.start()) + 1


def _regexp_replace(arguments: Sequence[SQLValue], _: SQLMode, collation: str) -> SQLValue:
    r"""Return ``REGEXP_REPLACE(text, pattern, with[, position[, occurrence[, match_type]]])``.

    ``\1`` is a group of the match, ``\x`` another character itself. The occurrence 0 means all.
    """
    text, pattern, replacement = _operands("REGEXP_REPLACE", arguments[:3])
    start = _start(text, arguments[3:4])
    occurrence = to_integer(arguments[4]) if arguments[4:] else 0
    compiled = _compiled("REGEXP_REPLACE", pattern, arguments[5:], collation)
    parts, end = [text[:start]], start
    for number, match in enumerate(_matches(compiled, text[start:]), start=1):
        if occurrence in (0, number) or (occurrence < 0 and number == 1):
            parts += (text[end : start + match.start()], _replaced(match, replacement))
            end = start + match.end()
    return "".join((*parts, text[end:]))


def _operands(name: str, values: Sequence[SQLValue]) -> list[str]:
    """Return text, pattern and replacement.

    :raises ScenarioError: for a binary string, and for an empty pattern.
    """
    if is_binary(*values):
        if name == "REGEXP_LIKE":
            raise UnsupportedSQL("REGEXP on binary strings is not supported")
        raise ScenarioError("Not support binary collation so far")
    texts = [to_text(value) for value in values]
    if not texts[1]:
        raise ScenarioError(f"Empty pattern is invalid in the function {name}")
    if any("\udc80" <= character <= "\udcff" for character in "".join(texts)):
        raise UnsupportedSQL("a regular expression on bytes that are not UTF-8 is not supported")
    return texts


def _start(text: str, position: Sequence[SQLValue]) -> int:
    number = to_integer(position[0]) if position else 1
    if not 1 <= number <= max(len(text), 1):
        raise ScenarioError("Index out of bounds in regular expression search")
    return number - 1


def _nth(compiled: Pattern[str], text: str, occurrence: Sequence[SQLValue]) -> Match[str] | None:
    number = max(to_integer(occurrence[0]), 1) if occurrence else 1
    return next((match for at, match in enumerate(_matches(compiled, text), start=1) if at == number), None)


def _matches(compiled: Pattern[str], text: str) -> Iterator[Match[str]]:
    """Yield the matches that Go finds: an empty one does not follow the end of another one."""
    end = -1
    for match in compiled.finditer(text):
        if match.end() > match.start() or match.start() != end:
            yield match
        end = match.end()


def _replaced(match: Match[str], replacement: str) -> str:
    def content(escape: Match[str]) -> str:
        character = escape[1]
        if not ("0" <= character <= "9"):
            return character
        try:
            group = match.group(int(character))
        except IndexError:
            raise ScenarioError("Substitution number is out of range") from None
        if group is None:
            raise ScenarioError(f"group {character} of the regular expression has no match")
        return group

    return _INSTRUCTION.sub(content, replacement)


def _compiled(name: str, pattern: str, match_type: Sequence[SQLValue], collation: str) -> Pattern[str]:
    """Return a compiled pattern.

    :param match_type: letters; the last of ``i`` and ``c`` counts.
    :raises ScenarioError: for an invalid pattern or letter.
    """
    flags = {"i"} if collation.endswith("_ci") else set[str]()
    for letter in to_text(match_type[0]) if match_type else "":
        if letter not in _MATCH_TYPES:
            raise ScenarioError(f"Invalid match type: {letter!r} in the function {name}", value=letter)
        flags = flags - {"i"} if letter == "c" else flags | {letter}
    return compile_pattern(f"(?{''.join(sorted(flags))}){pattern}" if flags else pattern)


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Pattern[str]:
    """Compile a pattern, which RE2 matches in linear time.

    :raises ScenarioError: for an invalid pattern.
    """
    import re2  # few scenarios have patterns

    if len(pattern) > _MAX_PATTERN:
        raise UnsupportedSQL(f"a regular expression of more than {_MAX_PATTERN} characters is not supported")
    options = re2.Options()
    options.log_errors = False
    if _SINGLE_BYTE.search(pattern):
        raise ScenarioError("Invalid regexp: invalid escape sequence: \\C", value=pattern[:80])
    try:
        compiled: Pattern[str] = re2.compile(pattern, options)
    except re2.error as error:
        [reason] = error.args
        raise ScenarioError(f"Invalid regexp: {reason.decode()}", value=pattern[:80]) from None
    return compiled


FUNCTIONS = {
    "REGEXP_INSTR": Function(_regexp_instr, 2, 6, collated=True, integers=(2, 3, 4), type=E.INTEGER),
    "REGEXP_LIKE": Function(
        _regexp_like, 2, 3, collated=True, type=E.INTEGER, syntax={exp.RegexpLike: ("this", "expression")}
    ),
    "REGEXP_REPLACE": Function(_regexp_replace, 3, 6, collated=True, integers=(3, 4), type=E.TEXT),
    "REGEXP_SUBSTR": Function(_regexp_substr, 2, 5, collated=True, integers=(2, 3), type=E.TEXT),
}
