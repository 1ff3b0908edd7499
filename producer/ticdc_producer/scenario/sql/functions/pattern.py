"""Regular expressions, limited to syntax with the same meaning in Go's RE2 and in Python.

Rules: tidb ``pkg/expression/builtin_regexp.go``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.coerce_text import to_text
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import SQLValue
from ticdc_producer.scenario.sql.functions.function import Function, is_binary

# Characters, classes of ASCII characters, anchors, groups, repetitions: the part of the two languages that
# means the same in both. Nested repetitions can take exponential time in Python, but linear time in Go.
_ATOM = r"(?:[^\\\[\](){}*+?|^$.]|\.|\\[.^$*+?()\[\]{}|\\/-]|\\[dDwWsS]|\[\^?(?:[^\\\[\]]|\\[\\\]\[^-])+\])"
_REPEAT = r"(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})?"
_BRANCH = rf"\^?(?:{_ATOM}{_REPEAT})*\$?"
_GROUP = rf"\({_BRANCH}(?:\|{_BRANCH})*\)"
_SIMPLE = re.compile(
    rf"\^?(?:{_ATOM}{_REPEAT}|{_GROUP})*\$?(?:\|\^?(?:{_ATOM}{_REPEAT}|{_GROUP})*\$?)*", re.DOTALL
)
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


def _regexp_like(arguments: Sequence[SQLValue], _: SQLMode, collation: str) -> SQLValue:
    if is_binary(*arguments[:2]):
        raise UnsupportedSQL("REGEXP on binary strings is not supported")
    text, pattern = to_text(arguments[0]), to_text(arguments[1])
    if not pattern:
        raise ScenarioError("Empty pattern is invalid in the function REGEXP_LIKE")
    letters = ("i" if collation.endswith("_ci") else "") + (to_text(arguments[2]) if arguments[2:] else "")
    flags = 0
    for letter in letters:
        if letter not in "icms":
            raise ScenarioError(f"Invalid match type: {letter!r}", value=letter)
        flags = flags & ~re.IGNORECASE if letter == "c" else flags | _FLAGS[letter]
    return compiled(pattern, flags).search(text) is not None


@lru_cache(maxsize=256)
def compiled(pattern: str, flags: int) -> re.Pattern[str]:
    """The compiled pattern.

    :param flags: of ``re``.
    :raises UnsupportedSQL: for syntax that may mean something else to Python than to TiDB.
    :raises ScenarioError: for an invalid pattern.
    """
    if len(pattern) > 1000 or not _SIMPLE.fullmatch(pattern):
        raise UnsupportedSQL(f"the regular expression {pattern[:80]!r} is not supported", value=pattern[:80])
    try:
        return re.compile(_absolute_end(pattern, flags), flags | re.ASCII)
    except re.error as error:
        raise ScenarioError(f"Invalid regexp: {error}", value=pattern[:80]) from error


def _absolute_end(pattern: str, flags: int) -> str:
    """Without ``m``, Go's ``$`` matches only at the end; Python's also matches before a final line feed."""
    if flags & re.MULTILINE:
        return pattern
    return re.sub(r"(\\.|\[(?:\\.|[^\]\\])*\])|\$", lambda match: match[1] or r"\Z", pattern, flags=re.DOTALL)


FUNCTIONS = {
    "REGEXP_LIKE": Function(_regexp_like, 2, 3, collated=True),
}
