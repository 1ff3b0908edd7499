"""The form of a scenario, checked as a whole: every problem at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pydantic import ValidationError

from ticdc_producer.config.model_errors import Path, explain, spell
from ticdc_producer.errors import ScenarioError, ScenarioProblems
from ticdc_producer.scenario.override import place_of, set_key
from ticdc_producer.scenario.spec import KEYS_REFUSED, Scenario
from ticdc_producer.scenario.yaml_tree import YAMLTree


def check_form(tree: YAMLTree, file: str, sets: Sequence[str] = ()) -> Scenario:
    """The document as a scenario.

    :param tree: changed by the settings.
    :param file: what to name as its place.
    :param sets: settings of the form ``PATH=VALUE``.
    :raises ScenarioProblems: with everything that is wrong, in file order.
    """
    checker = _Checker(tree, file)
    checker.apply(sets)
    scenario = checker.scenario()
    if scenario is None or checker.problems:
        raise ScenarioProblems(sorted(checker.problems, key=lambda problem: (not problem.line, problem.line)))
    return scenario


class _Checker:
    def __init__(self, tree: YAMLTree, file: str) -> None:
        self.tree = tree
        self.file = file
        self.problems = list(tree.problems)
        self.set_places: dict[Path, str] = {}

    def apply(self, sets: Iterable[str]) -> None:
        for setting in sets:
            try:
                path = set_key(self.tree, setting)
            except ScenarioError as error:
                self.problems.append(error)
            else:
                self.set_places[path] = place_of(setting.partition("=")[0])

    def scenario(self) -> Scenario | None:
        try:
            scenario = Scenario.model_validate(self.tree.data)
        except ValidationError as error:
            for found in explain(error, Scenario, KEYS_REFUSED):
                if not self._told(found.path):
                    self.problems.append(self._problem(found.path, found.what, found.hint))
            return None
        self.problems.extend(self._commits_that_do_not_grow(scenario))
        return scenario

    def _told(self, path: Path) -> bool:
        """Whether the path, or something in it, could not even be read."""
        return any(unread[: len(path)] == path for unread in self.tree.unread)

    def _commits_that_do_not_grow(self, scenario: Scenario) -> Iterator[ScenarioError]:
        last = 0
        for place, step in enumerate(scenario.steps):
            if step.commit_ts is None:
                continue
            path: Path = ("steps", place, "commit-ts")
            if step.commit_ts <= last:
                yield self._problem(
                    path, f"{spell(path)}: {step.commit_ts} is not above {last}, the one before"
                )
            last = max(last, step.commit_ts)

    def _problem(self, path: Path, what: str, hint: str = "") -> ScenarioError:
        """A problem, placed on the line of the path or of the closest key above it."""
        for depth in range(len(path), -1, -1):
            above = path[:depth]
            if above in self.set_places:
                return ScenarioError(what, file=self.set_places[above], hint=hint)
            if above in self.tree.keys:
                return ScenarioError(what, file=self.file, line=self.tree.keys[above], hint=hint)
            for path_set, place in self.set_places.items():
                if above and path_set[:depth] == above:  # a setting made this key
                    return ScenarioError(what, file=place, hint=hint)
        return ScenarioError(what, file=self.file, hint=hint)
