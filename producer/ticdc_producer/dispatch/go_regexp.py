"""Go's regular expressions for Python's engine.

TiCDC compiles ``/…/`` patterns with Go's ``regexp`` (RE2 syntax). Syntax that both engines share is copied,
syntax that differs is rewritten. What Go rejects (look-around, back references) and what is not rewritten
here is refused with an error that names it, so that every accepted pattern means the same as in TiCDC.
Syntax: https://pkg.go.dev/regexp/syntax
"""

from __future__ import annotations

import re

_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}  # ASCII only in Go
_CONTROLS = frozenset("aftnrv")
_ANCHORS = {"A": r"\A", "z": r"\Z", "b": r"(?a:\b)", "B": r"(?a:\B)"}
_GROUP = re.compile(r"\?(?:P?<([A-Za-z_][A-Za-z0-9_]*)>|([ims]*)(?:-([ims]+))?:)")
_POSIX = re.compile(r"\[:\^?[a-z]+:\]")
_HEX = re.compile(r"x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})")


def compile_go(pattern: str, *, ignore_case: bool) -> re.Pattern[str]:
    """Compile a pattern so that it matches what Go matches.

    :param ignore_case: whether to ignore case, as with ``(?i)`` at the beginning.
    :raises ValueError: if Go rejects the pattern or it cannot be rewritten for Python.
    """
    try:
        return re.compile(_Rewriter(pattern).rewrite(), re.IGNORECASE if ignore_case else 0)
    except (re.error, OverflowError) as error:
        raise ValueError(f"/{pattern}/ is not a regular expression: {error}") from None


class _Rewriter:
    def __init__(self, pattern: str) -> None:
        self.rest = pattern
        self.pattern = pattern

    def rewrite(self) -> str:
        parts = []
        while self.rest:
            char = self._take(1)
            if char == "\\":
                parts.append(self._escape(in_class=False))
            elif char == "[":
                parts.append(self._class())
            elif char == "(":
                parts.append(self._group())
            elif char == "$":
                parts.append(r"\Z")  # Python's $ also matches before a last line feed
            elif char in "*+?}" and self.rest.startswith(("+", "*")):
                raise self._refused(f"{char}{self.rest[0]}")  # possessive in Python, an error in Go
            else:
                parts.append(char)
        return "".join(parts)

    def _take(self, count: int) -> str:
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def _refused(self, what: str) -> ValueError:
        return ValueError(f"/{self.pattern}/: {what!r} is not supported in a pattern")

    def _group(self) -> str:
        if not self.rest.startswith("?"):
            return "("
        found = _GROUP.match(self.rest)
        if not found:
            raise self._refused(f"({self.rest[:3]}")
        self._take(found.end())
        return "(" if found[1] else f"({found[0]}"

    def _escape(self, *, in_class: bool) -> str:
        char = self._take(1)
        if char in _CLASSES:
            return _CLASSES[char] if in_class else f"[{_CLASSES[char]}]"
        if not in_class and char.lower() in _CLASSES:
            return f"[^{_CLASSES[char.lower()]}]"
        if not in_class and char in _ANCHORS:
            return _ANCHORS[char]
        if char in _CONTROLS:
            return f"\\{char}"
        number = _HEX.match(char + self.rest)
        if number:
            self._take(number.end() - 1)
            return re.escape(chr(int(number[1] or number[2], 16)))
        if char and char.isascii() and not char.isalnum():
            return f"\\{char}"
        raise self._refused(f"\\{char}")

    def _class(self) -> str:
        negated = self.rest.startswith("^")
        self._take(negated)
        parts: list[str] = []
        while not self.rest.startswith("]") or not parts:
            if not self.rest:
                raise self._refused("[ without ]")
            if _POSIX.match(self.rest):
                raise self._refused(self.rest[: self.rest.index("]") + 1])
            char = self._take(1)
            if char == "\\":
                parts.append(self._escape(in_class=True))
            else:
                parts.append(char if char == "-" or char.isalnum() else re.escape(char))
        self._take(1)
        return f"[{'^' if negated else ''}{''.join(parts)}]"
