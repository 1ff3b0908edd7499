"""``PATH=VALUE`` overrides any key of a scenario, also of a plain ``.sql``."""

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
        raise setting_error("write PATH=VALUE", spelled)
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
        raise setting_error(error.what.removeprefix(": "), spelled, error.hint) from None
    return value.data


def setting_error(what: str, spelled: str, hint: str = "") -> ScenarioError:
    """An error in a setting.

    :param spelled: the path of keys as the user wrote it; without the value, which may be a secret.
    """
    return ScenarioError(what, file=f"`overrides` {spelled.strip()}", hint=hint).about("overrides")


def _read_path(spelled: str) -> Path:
    parts: list[str | int] = []
    for segment in spelled.split("."):
        found = _KEY.fullmatch(segment)
        if not found:
            hint = "such as clock.every or changefeed.sink.dispatchers[0].partition"
            raise setting_error(f"{spelled!r} is not a path of keys", spelled, hint)
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
        raise setting_error(f"{name!r} is not a mapping", spelled)
    if isinstance(part, int) and not isinstance(here, list):
        raise setting_error(f"{name!r} is not a list", spelled)
    if isinstance(part, int) and part > len(here):
        raise setting_error(f"{name!r} has {len(here)} entries, so [{part}] is out of range", spelled)
