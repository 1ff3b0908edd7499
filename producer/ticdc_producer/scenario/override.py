"""``--set PATH=VALUE``: overrides any key of a scenario, also of a plain ``.sql``."""

from __future__ import annotations

import re
from typing import Any

from ticdc_producer.config.model_errors import Path, spell
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.yaml_tree import YAMLTree, read_yaml

_KEY = re.compile(r"([^.\[\]=]+)((?:\[\d{1,6}\])*)")
_EITHER_OR: dict[Path, str] = {("resolved", "after"): "every", ("resolved", "every"): "after"}


def override(tree: YAMLTree, setting: str) -> Path:
    """Set one key of a document.

    :param setting: such as ``changefeed.sink.dispatchers[0].partition=ts``; the value is YAML.
    :returns: the path that was set.
    :raises ScenarioError: if the setting is not ``PATH=VALUE``, or a key of the path is below a plain value.
    """
    spelled, equals, text = setting.partition("=")
    if not equals:
        raise ScenarioError("write --set PATH=VALUE", file=setting_label(spelled))
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
    except ScenarioError as error:  # its line and its empty path refer to the value alone
        raise ScenarioError(
            error.what.removeprefix(": "), file=setting_label(spelled), hint=error.hint
        ) from None
    return value.data


def setting_label(spelled: str) -> str:
    """The name of a setting in errors; without the value, which may be a secret."""
    return f"--set {spelled.strip()}"


def _read_path(spelled: str) -> Path:
    parts: list[str | int] = []
    for segment in spelled.split("."):
        found = _KEY.fullmatch(segment)
        if not found:
            raise ScenarioError(
                f"{spelled!r} is not a path of keys",
                file=setting_label(spelled),
                hint="such as clock.every or changefeed.sink.dispatchers[0].partition",
            )
        parts.append(found[1])
        parts.extend(int(index) for index in re.findall(r"\d+", found[2]))
    return tuple(parts)


def _put(data: Any, path: Path, value: Any, spelled: str) -> None:
    """Store a value at a path; missing mappings and lists on the path are created."""
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
        raise ScenarioError(f"{name!r} is not a mapping", file=setting_label(spelled))
    if isinstance(part, int) and not isinstance(here, list):
        raise ScenarioError(f"{name!r} is not a list", file=setting_label(spelled))
    if isinstance(part, int) and part > len(here):
        raise ScenarioError(
            f"{name!r} has {len(here)} entries, so [{part}] is out of range", file=setting_label(spelled)
        )
