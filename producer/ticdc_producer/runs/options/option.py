"""The declaration of an option."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal, SupportsIndex, cast, get_args, get_origin

from ticdc_producer.errors import ArgumentError


@dataclass(frozen=True)
class Option:
    """One option.

    :param name: of the argument in Python, which errors have in backticks.
    :param type: of the value on the command line. In Python a path may be a text, and a list any sequence.
    :param help: its effect in one sentence, with other options in backticks.
    :param note: what the help of the command adds.
    :param functions: the Python functions that accept it.
    :param flags: on the command line; empty: the name with hyphens.
    :param value: the only value that the command accepts, if the option is a boolean in Python.
    :param spelled: in errors of the command; empty: flag and ``value``.
    :param field: of the service's requests; empty: none.
    :param local: the command rejects it with ``--server``.
    """

    name: str
    type: object
    default: object
    help: str
    note: str = ""
    functions: tuple[str, ...] = ("run",)
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    value: str = ""
    minimum: int | None = None
    spelled: str = ""
    field: str = ""
    local: bool = False

    def __post_init__(self) -> None:
        flags = self.flags or (f"--{self.name.replace('_', '-')}",)
        object.__setattr__(self, "flags", flags)
        object.__setattr__(self, "spelled", self.spelled or f"{flags[0]} {self.value}".strip())

    def is_given(self, value: object) -> bool:
        """Return whether a value differs from the default. No list is an empty list."""
        return bool(value) if self.default == () else value != self.default

    def check(self, value: object) -> None:
        """Check a value of Python: sequences, integers, and values of which there are few.

        :raises ArgumentError: if it has another type, or is below the minimum.
        """
        if value is None or (get_origin(self.type) is not list and not self.is_given(value)):
            return
        if get_origin(self.type) is Literal and value not in get_args(self.type):
            raise self._error(
                f"`{self.name}` has no value {value!r}", f"one of {', '.join(get_args(self.type))}"
            )
        if get_origin(self.type) is list:
            if isinstance(value, str | bytes) or not isinstance(value, Sequence | Set | Mapping):
                raise self._error(f"`{self.name}` is a sequence, and not {value!r}", f"write [{value!r}]")
            if get_args(self.type) == (int,):
                for entry in value:
                    self._integer(entry, "has integers")
        elif self.type is int or int in get_args(self.type):
            number = self._integer(value, "is an integer")
            if self.minimum is not None and number < self.minimum:
                raise self._error(f"`{self.name}` is at least {self.minimum}, and not {number}", "")

    def _integer(self, value: object, words: str) -> int:
        try:
            return operator.index(cast("SupportsIndex", value))
        except TypeError:
            raise self._error(f"`{self.name}` {words}, and not {value!r}", "") from None

    def _error(self, what: str, hint: str) -> ArgumentError:
        return ArgumentError(what, argument=self.name, hint=hint).about(self.name)
