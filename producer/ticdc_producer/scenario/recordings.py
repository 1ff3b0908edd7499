"""Reads the recording that a step of a scenario replays."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.parse import parse_scenario, scenario_content
from ticdc_producer.scenario.scenario_file import (
    ChangesStep,
    RecordingStep,
    Replay,
    ScenarioFile,
    SnapshotStep,
    SQLStep,
)

SCENARIO_FILE = "scenario.yaml"
"""The scenario of a folder, such as a recording."""
_HINT = "`ticdc-producer record` writes a recording"


def with_recording(scenario: ScenarioFile) -> ScenarioFile:
    """Return a scenario with the content of the recording that it replays.

    The settings ``changefeed``, ``start-ts`` and ``resolved`` are those of the recording where the scenario
    has none. If the recording then has resolved events, regular ones follow the commits of other steps alone.

    :return: unchanged if no step is a recording.
    :raises ScenarioError: if the folder of the step is not a recording.
    :raises ScenarioProblems: with all problems of its scenario file.
    """
    number, step = next(
        ((number, step) for number, step in enumerate(scenario.steps) if isinstance(step, RecordingStep)),
        (0, None),
    )
    if step is None:
        return scenario
    recording = _scenario_of(step, scenario.file)
    has_resolved = recording.resolved_every == timedelta() and not scenario.resolved_given
    steps = _replayed_steps(step, recording, scenario.file, has_resolved=has_resolved)
    replay = Replay(
        file=recording.file, database=recording.database, time_zone=recording.time_zone, steps=steps
    )
    starts_itself = any(isinstance(each, SnapshotStep) for each in scenario.steps)
    own_resolved = scenario.resolved_given or has_resolved
    # Events before those of the recording, and other resolved events, move them to other offsets.
    has_positions = number == 0 and not scenario.resolved_given
    return replace(
        scenario,
        steps=(*scenario.steps[:number], replace(step, replay=replay), *scenario.steps[number + 1 :]),
        changefeed=scenario.changefeed or recording.changefeed,
        start_ts=scenario.start_ts or (None if starts_itself else recording.start_ts),
        resolved_every=scenario.resolved_every if own_resolved else recording.resolved_every,
        recorded_faults=recording.recorded_faults,
        recorded_changefeed=recording.changefeed if has_positions else None,
    )


def _scenario_of(step: RecordingStep, file: str) -> ScenarioFile:
    """Return the scenario of a recording."""
    path = Path(step.folder) / SCENARIO_FILE
    if not path.is_file():
        what = f"there is no recording in {step.folder}: it has no {SCENARIO_FILE}"
        raise ScenarioError(what, file=file, line=step.line, hint=_HINT)
    return parse_scenario(scenario_content(path, str(path)), str(path))


def _replayed_steps(
    step: RecordingStep, recording: ScenarioFile, file: str, *, has_resolved: bool
) -> tuple[SQLStep | ChangesStep, ...]:
    """Return the steps of a recording.

    :raises ScenarioError: for other steps than SQL and one ``changes`` step.
    """
    steps = tuple(each for each in recording.steps if isinstance(each, SQLStep | ChangesStep))
    if len(steps) < len(recording.steps) or sum(isinstance(each, ChangesStep) for each in steps) != 1:
        what = f"{recording.file} is not a recording: it has other steps than SQL and one changes step"
        raise ScenarioError(what, file=file, line=step.line, hint=_HINT)
    return tuple(
        replace(each, has_resolved=has_resolved) if isinstance(each, ChangesStep) else each for each in steps
    )
