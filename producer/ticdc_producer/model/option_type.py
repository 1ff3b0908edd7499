"""The types of option values.

A type parses the text of a sink URI parameter (``read``) and checks a value of a TOML or YAML file
(``check``). Both raise ``ValueError`` with a message that names the allowed values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ticdc_producer.hints import nearest

Plain: TypeAlias = bool | int | str | None

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})  # exactly what Go's strconv.ParseBool accepts
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})


class OptionType(Protocol):
    """The type of an option's values."""

    @property
    def allowed(self) -> str:
        """The allowed values, for error messages and documentation."""

    def read(self, text: str) -> Plain:
        """Parse the text of a URI parameter.

        :raises ValueError: if the text is not allowed.
        """

    def check(self, value: object) -> object:
        """Convert a value of a file to canonical form.

        :raises ValueError: if the value is not allowed.
        """

    def schema(self) -> dict[str, object]:
        """Return the type as JSON Schema keywords."""


@dataclass(frozen=True, slots=True)
class Boolean:
    """The type of an option that is true or false."""

    allowed: str = "true or false"

    def read(self, text: str) -> bool:
        if text in _TRUE:
            return True
        if text in _FALSE:
            return False
        raise ValueError(f"{text!r} is neither true nor false")

    def check(self, value: object) -> bool:
        if isinstance(value, bool):
            return value
        raise ValueError(f"{value!r} is neither true nor false")

    def schema(self) -> dict[str, object]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class IntRange:
    """A whole number between two bounds, both included."""

    low: int
    high: int

    @property
    def allowed(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def read(self, text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", text):
            raise ValueError(f"{text!r} is not {self.allowed}")
        return self.check(int(text))

    def check(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise ValueError(f"{value!r} is not {self.allowed}")
        return value

    def schema(self) -> dict[str, object]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of a fixed set of values, case-insensitive.

    :param choices: the supported values.
    :param later: values of TiCDC that are not supported yet.
    :param foreign: values of TiCDC that are not supported, without plans to do so.
    :param aliases: other spellings of ``choices``.
    :param fallback: the choice that TiCDC takes for a value that it does not know; empty: it is an error.
    :param optional: whether the value may be empty, as if it were not set.
    """

    choices: tuple[str, ...]
    later: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    fallback: str = ""
    optional: bool = False

    @property
    def allowed(self) -> str:
        return " or ".join(self.choices)

    def _word(self, text: str) -> str:
        word = text.strip().lower()
        return dict(self.aliases).get(word, word)

    def knows(self, text: str) -> bool:
        """Return whether a text is one of the values, so that ``fallback`` does not replace it."""
        return self._word(text) in self.choices

    def read(self, text: str) -> str:
        word = self._word(text)
        if word in self.choices or (self.optional and not word):
            return word
        if self.fallback:
            return self.fallback
        if word in self.later:
            raise ValueError(f"{word!r} is not available yet; allowed now: {self.allowed}")
        if word in self.foreign:
            raise ValueError(f"{word!r} is not supported; allowed: {self.allowed}")
        known = (*self.choices, *self.later, *dict(self.aliases))
        raise ValueError(f"{text!r} is not known; {nearest(word, known)}")

    def check(self, value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ValueError(f"{value!r} is not allowed; allowed: {self.allowed}")
        return self.read(str(value))

    def schema(self) -> dict[str, object]:
        if self.fallback:
            return {"type": "string"}
        numbers = [int(word) for word in self.choices if word.lstrip("-").isdigit()]
        empty = [""] if self.optional else []
        return {"enum": [*self.choices, *dict(self.aliases), *empty, *numbers]}


@dataclass(frozen=True, slots=True)
class Text:
    """Any text that is not empty."""

    allowed: str = "a text"

    def read(self, text: str) -> str:
        if not text:
            raise ValueError("the value is empty")
        return text

    def check(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not a text")
        return self.read(value)

    def schema(self) -> dict[str, object]:
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True)
class UnusedSection:
    """A section of the file without effect: its keys are known, and their values are not checked.

    :param keys: the keys, with dots below subsections.
    """

    keys: tuple[str, ...]

    @property
    def allowed(self) -> str:
        return f"a section with {', '.join(self.keys)}"

    def read(self, text: str) -> Plain:
        raise ValueError(f"{text!r} is not a section")

    def check(self, value: object) -> object:
        self._check(value, "")
        return value

    def _check(self, value: object, prefix: str) -> None:
        if not isinstance(value, Mapping):
            raise ValueError("it must hold keys")
        for key, below in value.items():
            path = f"{prefix}{key}"
            if any(known.startswith(f"{path}.") for known in self.keys):
                self._check(below, f"{path}.")
            elif path not in self.keys:
                raise ValueError(f"unknown key {path!r}; {nearest(path, self.keys)}")

    def schema(self) -> dict[str, object]:
        return self._schema("")

    def _schema(self, prefix: str) -> dict[str, object]:
        below = dict.fromkeys(
            key.removeprefix(prefix).partition(".")[0] for key in self.keys if key.startswith(prefix)
        )
        properties: dict[str, object] = {
            name: {} if prefix + name in self.keys else self._schema(f"{prefix}{name}.") for name in below
        }
        return {"type": "object", "properties": properties, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Never:
    """A switch of TiCDC that only has its default here: false.

    :param reason: why true is rejected; empty if that follows from the option.
    """

    reason: str = ""
    allowed: str = "false"

    def read(self, text: str) -> bool:
        return self.check(Boolean().read(text))

    def check(self, value: object) -> bool:
        if Boolean().check(value):
            raise ValueError("true is not supported" + (f": {self.reason}" if self.reason else ""))
        return False

    def schema(self) -> dict[str, object]:
        return {"const": False}


_STORAGE = r"(?:[A-Za-z][A-Za-z0-9+.-]*://(?![^/]*[@%])[^?#]+)?"


@dataclass(frozen=True, slots=True)
class StorageURI:
    """The URI of a storage, without credentials, because messages contain it."""

    allowed: str = "SCHEME://PATH without user and query, such as file:///var/claims, or empty"

    def read(self, text: str) -> str:
        if re.fullmatch(_STORAGE, text) is None:
            raise ValueError(f"{text!r} is not {self.allowed}")
        return text

    def check(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not {self.allowed}")
        return self.read(value)

    def schema(self) -> dict[str, object]:
        return {"type": "string", "pattern": f"^{_STORAGE}$"}


@dataclass(frozen=True, slots=True)
class TimeZone:
    """A time zone: an IANA name or an offset that MySQL accepts."""

    allowed: str = "an IANA time zone such as Asia/Tokyo, or an offset from -12:59 to +14:00"

    def read(self, text: str) -> str:
        # A plus sign that is not percent-encoded in a URI is decoded to a blank.
        zone = f"+{text[1:]}" if text.startswith(" ") else text
        offset = re.fullmatch(r"([+-])(\d{1,2}):(\d{2})", zone)
        if offset:
            minutes = int(offset[2]) * 60 + int(offset[3])
            fits = minutes <= (14 * 60 if offset[1] == "+" else 12 * 60 + 59)
            if fits and int(offset[3]) < 60:
                return f"{offset[1]}{int(offset[2]):02}:{offset[3]}"
        elif self._named(zone):
            return zone
        raise ValueError(f"{text!r} is not {self.allowed}")

    @staticmethod
    def _named(zone: str) -> bool:
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):  # the last two for names that are invalid paths
            return False
        return True

    def check(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not {self.allowed}")
        return self.read(value)

    def schema(self) -> dict[str, object]:
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class AnyText:
    """Any text, also the empty one."""

    allowed: str = "a text"

    def read(self, text: str) -> str:
        return text

    def check(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not a text")
        return value

    def schema(self) -> dict[str, object]:
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class Secret(AnyText):
    """A text that no error message repeats. An empty one is as if it were not set."""

    def check(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError("it is not a text")
        return value


_UNIT_MS = {
    "ns": Decimal("1e-6"), "us": Decimal("1e-3"), "\u00b5s": Decimal("1e-3"), "\u03bcs": Decimal("1e-3"),
    "ms": Decimal(1), "s": Decimal(1000), "m": Decimal(60_000), "h": Decimal(3_600_000),
}  # fmt: skip
_AMOUNT, _UNIT = r"(?:[0-9]{1,19}(?:\.[0-9]{0,19})?|\.[0-9]{1,19})", f"(?:{'|'.join(_UNIT_MS)})"
_DURATION = f"[+-]?(?:0|(?:{_AMOUNT}{_UNIT})+)"
_MAX_DURATION_MS = (1 << 63) // 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GoDuration:
    """A duration as Go's ``time.ParseDuration`` reads it; the value is in whole milliseconds.

    :param low_ms: the shortest duration that is allowed; None: a duration may also be negative.
    :param optional: whether the text may be empty, as if it were not set; the value is then None.

    >>> GoDuration().read("1m30.5s"), GoDuration().read("-1ms")
    (90500, -1)
    """

    low_ms: int | None = None
    optional: bool = False

    @property
    def allowed(self) -> str:
        least = "" if self.low_ms is None else f", at least {_length_text(self.low_ms)}"
        return f"a duration such as 5s, 1m30s or 500ms{least}"

    def read(self, text: str) -> int | None:
        if self.optional and not text:
            return None
        if re.fullmatch(_DURATION, text) is None:
            raise ValueError(f"{text!r} is not {self.allowed}")
        parts = re.findall(f"({_AMOUNT})({_UNIT})", text)
        length = int(sum(Decimal(number) * _UNIT_MS[unit] for number, unit in parts))
        length = -length if text.startswith("-") else length
        if abs(length) > _MAX_DURATION_MS or (self.low_ms is not None and length < self.low_ms):
            raise ValueError(f"{text!r} is not {self.allowed}")
        return length

    def check(self, value: object) -> int | None:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not {self.allowed}")
        return self.read(value)

    def schema(self) -> dict[str, object]:
        return {"type": "string", "pattern": f"^(?:{_DURATION}){'?' if self.optional else ''}$"}


def _length_text(length_ms: int) -> str:
    minutes = length_ms // 60_000
    return f"{minutes}m" if minutes and not length_ms % 60_000 else f"{length_ms}ms"
