"""Validates a scenario as a whole; ``PATH=VALUE`` overrides any of its keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from ticdc_producer.config.config_section import Path, explain, spell
from ticdc_producer.errors import ScenarioError, ScenarioProblems
from ticdc_producer.scenario.spec import KEYS_REFUSED, ScenarioSpec
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
        data: Any = tree.data
        data["resolved"].pop(_EITHER_OR[path], None)
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
    """Build the error of a setting.

    :param spelled: the path of keys as the user wrote it; without the value, which may be a secret.
    """
    return ScenarioError(what, file=f"`overrides` {spelled.strip()}", hint=hint).about("overrides")


def _read_path(spelled: str) -> Path:
    parts: list[str | int] = []
    for segment in spelled.split("."):
        match = _KEY.fullmatch(segment)
        if not match:
            hint = "such as clock.every or changefeed.sink.dispatchers[0].partition"
            raise setting_error(f"{spelled!r} is not a path of keys", spelled, hint)
        parts.append(match[1])
        parts.extend(int(index) for index in re.findall(r"\d+", match[2]))
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


def validate_spec(tree: YAMLTree, file: str, overrides: Sequence[str] = ()) -> ScenarioSpec:
    """Apply settings to a document and validate it.

    :param tree: the document; the settings change it.
    :param file: name of the file in errors.
    :param overrides: settings of the form ``PATH=VALUE``.
    :raises ScenarioProblems: with everything that is wrong, in file order.
    """
    checker = _Checker(tree, file)
    checker.apply(overrides)
    scenario = checker.scenario()
    if scenario is None or checker.problems:
        raise ScenarioProblems(sorted(checker.problems, key=lambda problem: (not problem.line, problem.line)))
    return scenario


class _Checker:
    def __init__(self, tree: YAMLTree, file: str) -> None:
        self.tree = tree
        self.file = file
        self.problems = list(tree.problems)
        self.settings: dict[Path, str] = {}

    def apply(self, overrides: Iterable[str]) -> None:
        for setting in overrides:
            try:
                path = override(self.tree, setting)
            except ScenarioError as error:
                self.problems.append(error)
            else:
                self.settings[path] = setting.partition("=")[0]

    def scenario(self) -> ScenarioSpec | None:
        try:
            scenario = ScenarioSpec.model_validate(self.tree.data)
        except ValidationError as error:
            for problem in explain(error, ScenarioSpec, KEYS_REFUSED):
                if not self._is_unreadable(problem.path):
                    self.problems.append(self._problem(problem.path, problem.what, problem.hint))
            return None
        self.problems.extend(self._commits_that_do_not_grow(scenario))
        return scenario

    def _is_unreadable(self, path: Path) -> bool:
        """Return whether the value of the path, or a value inside it, could not be read; it is reported."""
        return any(unread[: len(path)] == path for unread in self.tree.unread)

    def _commits_that_do_not_grow(self, scenario: ScenarioSpec) -> Iterator[ScenarioError]:
        last = 0
        for index, step in enumerate(scenario.steps):
            if step.commit_ts is None:
                continue
            path: Path = ("steps", index, "commit-ts")
            if step.commit_ts <= last:
                yield self._problem(
                    path, f"{spell(path)}: {step.commit_ts} must be greater than the previous one, {last}"
                )
            last = max(last, step.commit_ts)

    def _problem(self, path: Path, what: str, hint: str = "") -> ScenarioError:
        """Build a problem with the line of the path or of the closest key above it, or the setting's name."""
        for depth in range(len(path), -1, -1):
            above = path[:depth]
            if above in self.settings:
                return setting_error(what, self.settings[above], hint)
            if above in self.tree.keys:
                return ScenarioError(what, file=self.file, line=self.tree.keys[above], hint=hint)
            for path_set, spelled in self.settings.items():
                if above and path_set[:depth] == above:  # a setting created this key
                    return setting_error(what, spelled, hint)
        return ScenarioError(what, file=self.file, hint=hint)
