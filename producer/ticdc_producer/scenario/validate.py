"""Validates a scenario as a whole and reports all problems at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pydantic import ValidationError

from ticdc_producer.config.model_errors import Path, explain, spell
from ticdc_producer.errors import ScenarioError, ScenarioProblems
from ticdc_producer.scenario.override import override, setting_error
from ticdc_producer.scenario.spec import KEYS_REFUSED, Scenario
from ticdc_producer.scenario.yaml_tree import YAMLTree


def validate_spec(tree: YAMLTree, file: str, overrides: Sequence[str] = ()) -> Scenario:
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

    def scenario(self) -> Scenario | None:
        try:
            scenario = Scenario.model_validate(self.tree.data)
        except ValidationError as error:
            for found in explain(error, Scenario, KEYS_REFUSED):
                if not self._is_unreadable(found.path):
                    self.problems.append(self._problem(found.path, found.what, found.hint))
            return None
        self.problems.extend(self._commits_that_do_not_grow(scenario))
        return scenario

    def _is_unreadable(self, path: Path) -> bool:
        """Whether the value of the path, or a value inside it, could not be read (a reported problem)."""
        return any(unread[: len(path)] == path for unread in self.tree.unread)

    def _commits_that_do_not_grow(self, scenario: Scenario) -> Iterator[ScenarioError]:
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
        """A problem with the line of the path, or of the closest key above it, or with the setting's name."""
        for depth in range(len(path), -1, -1):
            above = path[:depth]
            if above in self.settings:
                return setting_error(what, self.settings[above], hint)
            if above in self.tree.keys:
                return ScenarioError(what, file=self.file, line=self.tree.keys[above], hint=hint)
            for path_set, spelled in self.settings.items():
                if above and path_set[:depth] == above:  # a setting made this key
                    return setting_error(what, spelled, hint)
        return ScenarioError(what, file=self.file, hint=hint)
