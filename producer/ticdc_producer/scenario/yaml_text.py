"""Prints a scenario as YAML: the opposite of ``yaml_tree``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from ticdc_producer.errors import ScenarioError

_HALF_PAIR = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""A surrogate that is no byte of a ``.sql`` file that is not UTF-8."""
_VARIABLE = re.compile(r"\$(?=\{[A-Za-z_][A-Za-z0-9_]*\})")


class _Dumper(yaml.SafeDumper):
    """Prints texts of several lines as blocks, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # PyYAML calls it
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    half = _HALF_PAIR.search(text)
    if half is not None:
        what = f"a text of the scenario has the character U+{ord(half[0]):04X}, half of a pair"
        raise ScenarioError(what, hint="bytes that are not UTF-8 can be written as x'…'")
    # In other styles than '"' PyYAML reads these line breaks as blanks.
    unusual = any(character in text for character in "\x85\u2028\u2029")
    style = '"' if unusual else "|" if "\n" in text.rstrip("\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def yaml_text(document: Mapping[str, object]) -> str:
    """Return a document as text, from which ``read_yaml`` reads the same values.

    :param document: a result of ``plain_values``.
    :raises ScenarioError: for a text that is not Unicode.
    """
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    return text


def literal(text: str) -> str:
    """Return a text in which ``${NAME}`` is no environment variable."""
    return _VARIABLE.sub("$$", text)


def plain_values(value: object) -> object:
    """Return a Python value as the values of YAML that a scenario has in its place.

    >>> plain_values({"every": timedelta(seconds=5), "columns": ("a",)})
    {'every': '5000ms', 'columns': ['a']}
    """
    if isinstance(value, Mapping):
        return {str(key): plain_values(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(entry) for entry in value]
    if isinstance(value, timedelta):
        return f"{value // timedelta(milliseconds=1)}ms"
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value
