"""Parses and validates the content of a scenario."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from ticdc_producer.config.config_section import Path as KeyPath
from ticdc_producer.config.config_section import spell
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.data_steps import location_of
from ticdc_producer.scenario.scenario_file import (
    ChangesStep,
    DataStep,
    GenerateStep,
    RecordingStep,
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


def scenario_content(source: Traversable, file: str) -> bytes:
    """Read the content of a scenario.

    :param file: its name.
    :raises ScenarioError: if it cannot be read, or is too large.
    """
    try:
        with source.open("rb") as content:
            data = content.read(MAX_BYTES + 1)
    except OSError as error:
        raise ScenarioError(f"cannot read the scenario: {error.strerror}", file=file) from None
    if len(data) > MAX_BYTES:
        raise ScenarioError(f"the scenario is larger than {MAX_BYTES >> 20} MiB", file=file)
    return data


def parse_scenario(
    content: bytes,
    file: str,
    overrides: Sequence[str] = (),
    frames: Frames | None = None,
    folder: Path | None = None,
) -> ScenarioFile:
    """Validate a scenario that was read.

    :param file: its name, which ends with ``.yaml`` or ``.sql``; errors name it, and nothing is read from it.
    :param overrides: settings of the form ``PATH=VALUE``, applied in order.
    :param frames: the rows of ``changes`` steps by their paths; those of other paths are in files.
    :param folder: the folder whose files its SQL may source; None: it may source none.
    :raises ScenarioError: if it is not text.
    :raises ScenarioProblems: with all problems of its content.
    """
    tree = _tree(scenario_text(content, file), file)
    digest = hashlib.sha256(content)
    scenario = _scenario_file(tree, file, overrides, digest.hexdigest(), frames=frames)
    if folder is None:
        return scenario
    reader = SourceReader(folder)
    read_sourced(scenario, reader)
    for sourced in reader.files.values():
        digest.update(sourced.text.encode("utf-8", "surrogateescape"))
    return replace(scenario, sourced=reader.files, sha256=digest.hexdigest())


def scenario_of_steps(
    steps: tuple[ScenarioStep, ...], file: str, overrides: Sequence[str], sha256: str
) -> ScenarioFile:
    """Return the scenario of the steps of a dump, with the default settings.

    :param overrides: as of ``parse_scenario``.
    :raises ScenarioProblems: with all problems of the overrides.
    """
    return _scenario_file(_sql_tree("-- the steps of a dump"), file, overrides, sha256, steps)


def read_sourced(scenario: ScenarioFile, reader: SourceReader) -> None:
    """Read the files that the SQL of a scenario sources.

    :raises ScenarioError: for a file that cannot be read.
    """
    for step in scenario.steps:
        if isinstance(step, SQLStep) and not step.transaction:
            reader.read(step.text, scenario.file, step.line)


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
        resolved_given="resolved" in scenario.model_fields_set,
        start_ts=scenario.start_ts,
        target_ts=scenario.target_ts,
        recorded_faults=scenario.recorded_faults and location_of(scenario.recorded_faults, file),
        recorded_changefeed=_changefeed(tree) if scenario.recorded_faults else None,
        faults=scenario.faults,
        fault_lines={name: tree.keys.get(("faults", name), 0) for name in scenario.faults},
        changefeed_lines={
            spell(path[1:]): line for path, line in tree.keys.items() if path[:1] == ("changefeed",)
        },
    )


def _frame_in_file(path: str, file: str, line: int) -> Frame:
    from ticdc_producer.scenario.frames.frame import ParquetFrame  # most scenarios have no such step

    return ParquetFrame(location_of(path, file), file, line)


def scenario_text(content: bytes, file: str) -> str:
    """Return the text of a scenario.

    :raises ScenarioError: for YAML that is not UTF-8.
    """
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
        return ChangesStep(spec=step.changes, file=file, line=line, frame=frame, commit_ts=step.commit_ts)
    if step.recording is not None:
        line = tree.keys.get(("steps", index, "recording"), 0)
        return RecordingStep(folder=location_of(step.recording, file), line=line)
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
