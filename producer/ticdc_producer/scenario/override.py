"""``--set PATH=VALUE``: addresses any key of a scenario, of a plain ``.sql`` too."""

from __future__ import annotations

import re
from typing import Any

from ticdc_producer.config.model_errors import Path, spell
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.yaml_tree import YAMLTree, read_yaml

_KEY = re.compile(r"([^.\[\]=]+)((?:\[\d{1,6}\])*)")
_EITHER_OR: dict[Path, str] = {("resolved", "after"): "every", ("resolved", "every"): "after"}


def set_key(tree: YAMLTree, setting: str) -> Path:
    """Sets one key of a document.

    :param setting: ``changefeed.sink.dispatchers[0].partition=ts``; the value is YAML.
    :returns: the path that was set.
    :raises ScenarioError: for another form, and for a path that leads through a value.
    """
    spelled, equals, text = setting.partition("=")
    if not equals:
        raise ScenarioError("the form is --set PATH=VALUE", file=place_of(spelled))
    path = _read_path(spelled.strip())
    _put(tree.data, path, _read_value(text, spelled), spelled)
    tree.unread.discard(path)
    if path in _EITHER_OR:
        tree.data["resolved"].pop(_EITHER_OR[path], None)
    return path


def _read_value(text: str, spelled: str) -> Any:
    try:
        value = read_yaml(text, "")
        if value.problems:
            raise value.problems[0]
    except ScenarioError as error:  # neither its line nor its (empty) path means anything here
        raise ScenarioError(error.what.removeprefix(": "), file=place_of(spelled), hint=error.hint) from None
    return value.data


def place_of(spelled: str) -> str:
    """How errors name a setting; without the value, which may be a secret."""
    return f"--set {spelled.strip()}"


def _read_path(spelled: str) -> Path:
    parts: list[str | int] = []
    for piece in spelled.split("."):
        found = _KEY.fullmatch(piece)
        if not found:
            raise ScenarioError(
                f"{spelled!r} is no path of keys",
                file=place_of(spelled),
                hint="such as clock.every or changefeed.sink.dispatchers[0].partition",
            )
        parts.append(found[1])
        parts.extend(int(place) for place in re.findall(r"\d+", found[2]))
    return tuple(parts)


def _put(data: Any, path: Path, value: Any, spelled: str) -> None:
    """Puts a value in its place; makes the mappings and lists on the way that are missing."""
    here = data
    for depth, part in enumerate(path):
        last = depth == len(path) - 1
        below = value if last else ([] if isinstance(path[depth + 1], int) else {})
        _check_step(here, part, path[:depth], spelled)
        if isinstance(part, int):
            if part == len(here):
                here.append(below)
            elif last or here[part] is None:
                here[part] = below
        elif last or here.get(part) is None:
            here[part] = below
        here = here[part]


def _check_step(here: Any, part: str | int, above: Path, spelled: str) -> None:
    name = spell(above) or "the scenario"
    if isinstance(part, str) and not isinstance(here, dict):
        raise ScenarioError(f"{name!r} holds no keys", file=place_of(spelled))
    if isinstance(part, int) and not isinstance(here, list):
        raise ScenarioError(f"{name!r} is no list", file=place_of(spelled))
    if isinstance(part, int) and part > len(here):
        raise ScenarioError(
            f"{name!r} has {len(here)} entries, so [{part}] is too far", file=place_of(spelled)
        )
