"""Loads a scenario: a ``.yaml`` file, a ``.sql`` file, a folder with ``scenario.yaml``, the folder of a dump,
a shipped scenario by name, or one built in Python.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ticdc_producer.config.config_section import Path as KeyPath
from ticdc_producer.config.config_section import spell
from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest
from ticdc_producer.local_path import local_path
from ticdc_producer.resources import bundled_dir
from ticdc_producer.scenario.content_digest import content_paths
from ticdc_producer.scenario.data_steps import location_of
from ticdc_producer.scenario.dump_folder import is_dump_folder, read_dump_folder
from ticdc_producer.scenario.file_steps import DumpStep, divide_dump
from ticdc_producer.scenario.scenario_file import (
    ChangesStep,
    DataStep,
    GenerateStep,
    ResolvedStep,
    ScenarioFile,
    ScenarioStep,
    SnapshotStep,
    SQLStep,
)
from ticdc_producer.scenario.sourced_files import MAX_BYTES, SourceReader, sql_text
from ticdc_producer.scenario.spec import Step
from ticdc_producer.scenario.validate import validate_spec
from ticdc_producer.scenario.yaml_tree import YAMLTree, read_yaml

if TYPE_CHECKING:
    from ticdc_producer.scenario.frames.frame import Frame, Frames


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
SCENARIO_FILE = "scenario.yaml"
"""The scenario of a folder, such as a recording."""


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
        return _of_content(_read(source, file), file, overrides, folder=folder)
    path = Path(file)
    tree = _tree("-- divided below", file)
    return _scenario_file(tree, file, overrides, _file_sha256(path), _dump_steps(path))


def _of_dump_folder(folder: Path, overrides: Sequence[str]) -> ScenarioFile:
    dump = read_dump_folder(folder)
    text = "\0".join(part for file in dump.sourced.values() for part in (file.file, file.text))
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape"))
    for step in dump.steps:
        for path in sorted({span.file for span in step.spans}) if isinstance(step, DumpStep) else ():
            digest.update(_file_sha256(Path(path)).encode())
    tree = _sql_tree("-- the files of a dump")
    scenario = _scenario_file(tree, str(folder), overrides, digest.hexdigest(), tuple(dump.steps))
    name = scenario.name or folder.name
    return replace(scenario, name=name, sourced=dump.sourced, unread=tuple(dump.programs))


def parse_scenario(
    content: bytes, file: str, overrides: Sequence[str] = (), frames: Frames | None = None
) -> ScenarioFile:
    """Validate a scenario that was read.

    :param file: its name, which ends with ``.yaml`` or ``.sql``; errors name it, and nothing is read from it.
    :param overrides: settings of the form ``PATH=VALUE``, applied in order.
    :param frames: the rows of ``changes`` steps by their paths; those of other paths are in files.
    :raises ScenarioError: if it is not text.
    :raises ScenarioProblems: with all problems of its content.
    """
    return _of_content(content, file, overrides, frames)


def _of_content(
    content: bytes,
    file: str,
    overrides: Sequence[str],
    frames: Frames | None = None,
    folder: Path | None = None,
) -> ScenarioFile:
    """Validate a scenario that was read.

    :param folder: the folder whose files its SQL may source; None: it may source none.
    """
    tree = _tree(_text(content, file), file)
    digest = hashlib.sha256(content)
    scenario = _scenario_file(tree, file, overrides, digest.hexdigest(), frames=frames)
    if folder is None:
        return scenario
    reader = SourceReader(folder)
    _read_sourced(scenario, reader)
    for sourced in reader.files.values():
        digest.update(sourced.text.encode("utf-8", "surrogateescape"))
    return replace(scenario, sourced=reader.files, sha256=digest.hexdigest())


def _read_sourced(scenario: ScenarioFile, reader: SourceReader) -> None:
    for step in scenario.steps:
        if isinstance(step, SQLStep) and not step.transaction:
            reader.read(step.text, scenario.file, step.line)


def paths_of_scenario(scenario: str) -> list[str]:
    """Return the files that a scenario in a file sources, and those whose rows its steps read, by name.

    If a sourced file cannot be read, it is the last of which the name is known.

    :raises ScenarioError: if the scenario itself cannot be read.
    :raises ScenarioProblems: with all problems of its content.
    """
    source = Path(scenario)
    if _is_large_dump(source):
        return []
    reader, content = SourceReader(source.parent), _of_content(_read(source, scenario), scenario, ())
    with suppress(ScenarioError):
        _read_sourced(content, reader)
    return sorted({*reader.paths, *content_paths(content)})


def _scenario_file(
    tree: YAMLTree,
    file: str,
    overrides: Sequence[str],
    sha256: str,
    dump_steps: tuple[ScenarioStep, ...] = (),
    frames: Frames | None = None,
) -> ScenarioFile:
    scenario = validate_spec(tree, file, overrides)
    steps = (_step(step, tree, index, file, frames or {}) for index, step in enumerate(scenario.steps))
    return ScenarioFile(
        file=file,
        sha256=sha256,
        name=scenario.name or Path(file).name.rpartition(".")[0],
        description=scenario.description,
        seed=scenario.seed,
        start=scenario.clock.start,
        every=scenario.clock.every,
        build_time=scenario.clock.build_time,
        database=scenario.session.database,
        time_zone=scenario.session.time_zone,
        now=None if scenario.session.now == "commit" else scenario.session.now,
        resolved_every=timedelta() if scenario.resolved.after == "never" else scenario.resolved.every,
        changefeed=_changefeed(tree),
        steps=dump_steps or tuple(steps),
        on_error=scenario.on_error,
        start_given="start" in scenario.clock.model_fields_set,
        start_ts=scenario.start_ts,
        target_ts=scenario.target_ts,
        recorded_faults=scenario.recorded_faults and location_of(scenario.recorded_faults, file),
        faults=scenario.faults,
        fault_lines={name: tree.keys.get(("faults", name), 0) for name in scenario.faults},
        changefeed_lines={
            spell(path[1:]): line for path, line in tree.keys.items() if path[:1] == ("changefeed",)
        },
    )


def _frame_in_file(path: str, file: str, line: int) -> Frame:
    from ticdc_producer.scenario.frames.frame import ParquetFrame  # most scenarios have no such step

    return ParquetFrame(location_of(path, file), file, line)


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
            text = _text(content.read(span.end - span.start), str(path))
            steps.append(SQLStep(text=text, line=span.line))
    return tuple(steps)


def _read(source: Traversable, file: str) -> bytes:
    try:
        with source.open("rb") as content:
            data = content.read(MAX_BYTES + 1)
    except OSError as error:
        raise ScenarioError(f"cannot read the scenario: {error.strerror}", file=file) from None
    if len(data) > MAX_BYTES:
        raise ScenarioError(f"the scenario is larger than {MAX_BYTES >> 20} MiB", file=file)
    return data


def _text(content: bytes, file: str) -> str:
    if file.endswith(".sql"):
        return sql_text(content, file)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    hint = "save it in that encoding"
    raise ScenarioError("the scenario is not UTF-8", file=file, line=line, hint=hint) from None


_YAML = re.compile(r"(?:[^\S\n]*(?:#[^\n]*)?\n)*+(?:version|name|description|seed|changefeed|clock|steps):")
"""The beginning of a scenario in YAML; no statement has a colon after its first word."""


def _tree(text: str, file: str) -> YAMLTree:
    if file.endswith(".sql"):
        if _YAML.match(text):
            raise ScenarioError("the file has YAML, not SQL", file=file, hint="rename it to .yaml")
        return _sql_tree(text)
    tree = read_yaml(text, file)
    if tree.data is None and not tree.problems:
        raise ScenarioError("the scenario is empty", file=file, hint="it needs version and steps")
    if not isinstance(tree.data, dict):
        what, hint = "a scenario is a mapping of keys", ""
        if isinstance(tree.data, str) and ";" in tree.data:
            hint = "if the file has SQL, rename it to .sql"
        raise ScenarioError(what, file=file, line=tree.lines[()], hint=hint)
    return tree


def _sql_tree(text: str) -> YAMLTree:
    return YAMLTree(data={"version": 1, "steps": [{"sql": text}]}, lines={("steps", 0, "sql"): 1})


def _changefeed(tree: YAMLTree) -> Mapping[str, object]:
    """Return the changefeed of a valid scenario, which is a mapping."""
    changefeed = tree.data.get("changefeed") if isinstance(tree.data, dict) else None
    return changefeed or {}


def _step(step: Step, tree: YAMLTree, index: int, file: str, frames: Frames) -> ScenarioStep:
    if step.resolved is not None:
        return ResolvedStep(ts=step.resolved, line=tree.lines.get(("steps", index, "resolved"), 0))
    if step.snapshot is not None:
        return SnapshotStep(line=tree.keys.get(("steps", index, "snapshot"), 0))
    if step.generate is not None:
        return GenerateStep(
            spec=step.generate,
            lines=_lines_below(tree, ("steps", index, "generate")),
            commit_ts=step.commit_ts,
        )
    if step.data is not None:
        line = tree.keys.get(("steps", index, "data"), 0)
        return DataStep(spec=step.data, line=line, commit_ts=step.commit_ts)
    if step.changes is not None:
        line = tree.keys.get(("steps", index, "changes"), 0)
        frame = frames.get(step.changes.path) or _frame_in_file(step.changes.path, file, line)
        return ChangesStep(spec=step.changes, line=line, frame=frame, commit_ts=step.commit_ts)
    text = step.sql if step.sql is not None else step.txn
    return SQLStep(
        text=text or "",
        line=tree.lines.get(("steps", index, "sql" if step.sql is not None else "txn"), 0),
        transaction=step.txn is not None,
        commit_ts=step.commit_ts,
    )


def _lines_below(tree: YAMLTree, above: KeyPath) -> dict[tuple[str, ...], int]:
    """Return the line of a key and of each key below it, by their paths relative to the key."""
    depth = len(above)
    return {tuple(map(str, path[depth:])): line for path, line in tree.keys.items() if path[:depth] == above}
