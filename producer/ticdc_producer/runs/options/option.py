"""The declaration of an option."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """One option.

    :param name: of the argument in Python, which errors have in backticks.
    :param type: of the value on the command line. In Python a path may be a text, and a list any sequence.
    :param help: its effect in one sentence, with other options in backticks.
    :param note: what the help of the command adds.
    :param functions: the Python functions that have it.
    :param flags: on the command line; empty: the name with hyphens.
    :param value: the only value that the command accepts, if the option is a boolean in Python.
    :param spelled: in errors of the command; empty: flag and ``value``.
    :param field: of the service's requests; empty: none.
    :param local: the command does not have it with ``--server``.
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
