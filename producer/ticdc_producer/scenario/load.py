"""Loads a scenario: a ``.yaml`` file, a ``.sql`` file, a folder with ``scenario.yaml``, the folder of a dump,
a shipped scenario by name, or one built in Python.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Protocol, TypeAlias

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest
from ticdc_producer.local_path import local_path
from ticdc_producer.resources import bundled_dir
from ticdc_producer.scenario.content_digest import content_paths
from ticdc_producer.scenario.dump_folder import is_dump_folder, read_dump_folder
from ticdc_producer.scenario.file_steps import DumpStep, divide_dump
from ticdc_producer.scenario.parse import (
    parse_scenario,
    read_sourced,
    scenario_content,
    scenario_of_steps,
    scenario_text,
)
from ticdc_producer.scenario.recordings import SCENARIO_FILE, with_recording
from ticdc_producer.scenario.scenario_file import ScenarioFile, ScenarioStep, SQLStep
from ticdc_producer.scenario.sourced_files import MAX_BYTES, SourceReader
from ticdc_producer.scenario.yaml_tree import read_yaml


def shipped() -> dict[str, Traversable]:
    """Return every shipped scenario by name, sorted."""
    folder = bundled_dir("scenarios")
    scenarios = {
        entry.name.removesuffix(".yaml"): entry for entry in folder.iterdir() if entry.name.endswith(".yaml")
    }
    return dict(sorted(scenarios.items()))


def descriptions() -> dict[str, str]:
    """Return the description of each shipped scenario; empty if it has none."""
    return {name: _description(entry) for name, entry in shipped().items()}


def _description(entry: Traversable) -> str:
    try:
        data = read_yaml(entry.read_text(encoding="utf-8"), entry.name).data
    except ScenarioError:
        return ""  # running the scenario reports the error; the list continues
    described = data.get("description") if isinstance(data, dict) else None
    return described.strip() if isinstance(described, str) else ""


SCENARIO_ENDINGS = (".yaml", ".yml", ".sql")


class LoadableScenario(Protocol):
    """A scenario that was built in Python."""

    def load(self, overrides: Sequence[str] = ()) -> ScenarioFile:
        """Validate the scenario; see ``load_scenario``."""


ScenarioSource: TypeAlias = str | Path | LoadableScenario
"""A ``.yaml`` or ``.sql`` file, the name of a shipped scenario, or a scenario that was built in Python."""


def load_scenario(scenario: ScenarioSource, overrides: Sequence[str] = ()) -> ScenarioFile:
    """Read and validate a scenario.

    :param overrides: settings of the form ``PATH=VALUE``, applied in order.
    :raises ScenarioError: if the scenario does not exist or cannot be read.
    :raises ScenarioProblems: with all problems of its content.
    """
    if not isinstance(scenario, str | Path):
        if not callable(getattr(scenario, "load", None)):
            hint = "name a file or a shipped scenario, or give a Scenario; Scenario.from_dataframe makes one"
            raise ScenarioError(f"{type(scenario).__name__} is not a scenario", hint=hint)
        return scenario.load(overrides)
    source = _find(str(scenario))
    file = str(source)
    if isinstance(source, Path) and source.is_dir():
        return _of_dump_folder(source, overrides)
    if not _is_large_dump(source):
        folder = source.parent if isinstance(source, Path) else None
        return with_recording(parse_scenario(scenario_content(source, file), file, overrides, folder=folder))
    path = Path(file)
    return scenario_of_steps(_dump_steps(path), file, overrides, _file_sha256(path))


def _of_dump_folder(folder: Path, overrides: Sequence[str]) -> ScenarioFile:
    dump = read_dump_folder(folder)
    text = "\0".join(part for file in dump.sourced.values() for part in (file.file, file.text))
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape"))
    for step in dump.steps:
        for path in sorted({span.file for span in step.spans}) if isinstance(step, DumpStep) else ():
            digest.update(_file_sha256(Path(path)).encode())
    scenario = scenario_of_steps(tuple(dump.steps), str(folder), overrides, digest.hexdigest())
    name = scenario.name or folder.name
    return replace(scenario, name=name, sourced=dump.sourced, unread=tuple(dump.programs))


def paths_of_scenario(scenario: str) -> list[str]:
    """Return the files that a scenario in a file sources, and those whose rows its steps read, by name.

    If a sourced file cannot be read, it is the last of which the name is known.

    :raises ScenarioError: if the scenario itself cannot be read.
    :raises ScenarioProblems: with all problems of its content.
    """
    source = Path(scenario)
    if _is_large_dump(source):
        return []
    parsed = parse_scenario(scenario_content(source, scenario), scenario)
    reader = SourceReader(source.parent)
    with suppress(ScenarioError):
        read_sourced(parsed, reader)
    return sorted({*reader.paths, *content_paths(parsed)})


def _find(name: str) -> Traversable:
    if local_path(name).name.endswith(SCENARIO_ENDINGS):
        return Path(name)
    library = shipped()
    if name in library:
        return library[name]
    if (Path(name) / SCENARIO_FILE).is_file():
        return Path(name) / SCENARIO_FILE
    if is_dump_folder(Path(name)):
        return Path(name)
    if Path(name).exists() or Path(name).name != name:
        what = f"a scenario is a .yaml or a .sql file, a folder with {SCENARIO_FILE}, or the folder of a dump"
        hint = "JSON is YAML: rename the file to .yaml" if name.endswith(".json") else ""
        raise ScenarioError(what, file=name, hint=hint)
    files = (f"{name}{ending}" for ending in SCENARIO_ENDINGS if Path(f"{name}{ending}").is_file())
    hint = next((f"did you mean the file {file}?" for file in files), nearest(name, library))
    raise ScenarioError(f"there is no shipped scenario {name!r}", hint=hint)


def _is_large_dump(source: Traversable) -> bool:
    return isinstance(source, Path) and source.name.endswith(".sql") and _size(source) > MAX_BYTES


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # reading it reports the error


def _file_sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _dump_steps(path: Path) -> tuple[ScenarioStep, ...]:
    """Return the steps of a dump that is too large for the SQL engine: SQL, and INSERTs that Spark reads."""
    steps: list[ScenarioStep] = []
    with path.open("rb") as content:
        for part in divide_dump(path):
            if part.table is not None:
                steps.append(DumpStep(table=part.table, spans=part.spans))
                continue
            [span] = part.spans
            if span.end - span.start > MAX_BYTES:
                what = f"statements other than INSERT of large tables have more than {MAX_BYTES >> 20} MiB"
                raise ScenarioError(what, file=str(path), line=span.line)
            content.seek(span.start)
            text = scenario_text(content.read(span.end - span.start), str(path))
            steps.append(SQLStep(text=text, line=span.line))
    return tuple(steps)
