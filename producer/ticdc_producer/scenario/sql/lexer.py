"""A script cut into pieces: literals, comments, the ends of statements, and all that lies between.

Made for speed: what stands between two literals is one piece. Strings, quoted names and comments end where
they end for sqlglot's MySQL tokenizer, for its words are what is parsed later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.dialect import words

Piece: TypeAlias = tuple[str, str, int]
"""What it is (a group of the pattern below), its text, where it ends."""

_AFTER = r"(?=[\s,;()=<>+*/%&|^-]|\Z)"
"""What may follow a number; before anything else it is part of a name."""
_NUMBER = rf"\d++(?:\.\d*+)?(?:[eE][+-]?\d++)?{_AFTER}"
_HEX = rf"(?:[xX]'[0-9a-fA-F]*+'|0[xX][0-9a-fA-F]++{_AFTER})"
_BITS = rf"(?:[bB]'[01]*+'|0[bB][01]++{_AFTER})"
_DASH_COMMENT = r"--(?=[\s\x00-\x1f\x7f]|\Z)[^\n]*+"
_WORD = r"[^\s'\"`;,()=<>+!%&|^~{}\[\]:?.\#/*\\-]++"
_SIGN = r"[\s,()=<>+!%&|^~{}\[\]:?\\]"
_PIECE = re.compile(
    rf"""
      (?P<number>{_NUMBER})
    | (?P<string>'[^'\\]*+(?:(?:''|\\.)[^'\\]*+)*+' | "[^"\\]*+(?:(?:""|\\.)[^"\\]*+)*+")
    | (?P<hex>{_HEX})
    | (?P<bits>{_BITS})
    | (?P<end>;)
    | (?P<opening>/\*(?:!\d*+|T!(?:\[[\w,]*+\])?))
    | (?P<closing>\*/(?!\*))
    | (?P<comment>/\*(?!\+).*?\*/ | \#[^\n]*+ | {_DASH_COMMENT})
    | (?P<plain>(?: {_SIGN} | (?!{_NUMBER}|{_HEX}|{_BITS}){_WORD} | \.[\w$]*+ | `[^`]*+`
          | (?!{_DASH_COMMENT})- | \*(?!/(?!\*)) | /(?!\*) | /\*\+.*?\*/ )++)
    """,
    re.VERBOSE | re.DOTALL,
)


def pieces(text: str, line: int = 1) -> Iterator[Piece]:
    """The pieces of a script, from its first character to its last.

    :param line: line of the file at which ``text`` starts.
    :raises ScenarioError: where a quote or comment is not closed.
    """
    place, match = 0, _PIECE.match
    while place < len(text):
        found = match(text, place)
        if found is None:
            raise _not_closed(text, place, line)
        place = found.end()
        yield found.lastgroup or "", found.group(), place


def _not_closed(text: str, place: int, line: int) -> ScenarioError:
    line += text.count("\n", 0, place)
    words(text[place:], line)
    return ScenarioError(f"SQL does not parse near {text[place : place + 60]!r}", line=line)
