"""Stored examples: failures of earlier campaigns, and scenarios or golden folders that someone else wrote.

A folder without its scenario is read as SQL: its DDLs, and a statement for each row event.
"""

from __future__ import annotations

import json
import shlex
import shutil
from base64 import b64decode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.conformance.case_spec import Level
from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.protocols import PROTOCOLS
from ticdc_producer.conformance.fuzz.shrink import Failure
from ticdc_producer.conformance.fuzz.sql_edits import statements_of
from ticdc_producer.conformance.fuzz.testee import Wrong
from ticdc_producer.conformance.fuzz.topic import NAME, build_topic
from ticdc_producer.conformance.restart.case import RestartCase
from ticdc_producer.conformance.restart_case import restart_case_specs
from ticdc_producer.errors import ConformanceError, ReportError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, NUMBERED, MySQLType, type_names
from ticdc_producer.reports.report import write_text
from ticdc_producer.runs.targets.golden import write_small_folder
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.scenario.scenario_file import ScenarioFile, SQLStep
from ticdc_producer.scenario.sql.text.spelling import quoted_name
from ticdc_producer.simulate.scenario_changefeed import settings_of
from ticdc_producer.targets.golden import read as golden

SCENARIO, EXAMPLE = "scenario.sql", "example.json"
REGRESSIONS = "regressions.jsonl"
_OUTCOME, _REQUEST = "outcome.json", "request.json"
_ENCODER = msgspec.json.Encoder(order="deterministic")


def save_failure(
    folder: Path, failure: Failure, command: str, *, reset: bool = False, kafka: str = ""
) -> Path:
    """Write the smallest example of a failure as a golden folder, and add it to the regression file.

    :param folder: contains the golden folder and the regression file; created if it is missing.
    :param command: the command of the testee.
    :param reset: whether the process of the testee continues at a restart.
    :param kafka: address of the Kafka to which it commits its offsets.
    :returns: the golden folder.
    :raises ReportError: if it cannot be written.
    """
    example = failure.smallest
    path = folder / f"{example.protocol}-{sha256(_ENCODER.encode(example)).hexdigest()[:12]}"
    save_example(path, example, failure.wrong, replay_command(command, path, reset=reset, kafka=kafka))
    _add_regression(folder / REGRESSIONS, example)
    return path


def save_example(path: Path, example: FuzzExample, wrong: Wrong, replay: str) -> None:
    """Write an example that fails as a golden folder.

    :param path: the folder; created if it is missing.
    :param replay: the command that sends it again.
    :raises ReportError: if it cannot be written.
    """
    line = _ENCODER.encode(example)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if (path / _OUTCOME).exists():  # written by an earlier run
            shutil.rmtree(path)
        write_small_folder(path, build_topic(example).job)
    except OSError as error:
        what = f"the failing example cannot be written: {error.strerror}"
        raise ReportError(what, path=str(path)) from None
    outcome = {
        "replay": replay,
        "reasons": list(wrong.reasons),
        "answer": wrong.answer,
    }
    write_text(path / SCENARIO, example.text)
    write_text(path / EXAMPLE, msgspec.json.format(line, indent=2).decode() + "\n")
    write_text(path / _REQUEST, msgspec.json.encode(wrong.case.request).decode() + "\n")
    write_text(path / _OUTCOME, json.dumps(outcome, indent=2, ensure_ascii=False) + "\n")


def save_restart(folder: Path, wrong: Wrong, command: str, *, reset: bool, kafka: str = "") -> Path:
    """Write a failed written case of the restart level, with the stops at which it fails.

    :param folder: contains the golden folder, which is named by the case.
    :returns: the golden folder.
    :raises ReportError: if it cannot be written.
    """
    spec = next(spec for spec in restart_case_specs() if spec.id == wrong.case.id)
    lives = wrong.case.lives if isinstance(wrong.case, RestartCase) else None
    path = folder / spec.id
    replay = replay_command(command, path, reset=reset, kafka=kafka)
    save_example(path, msgspec.structs.replace(spec.example, lives=lives or ()), wrong, replay)
    return path


def replay_command(command: str, folder: Path, *, reset: bool = False, kafka: str = "") -> str:
    """Return the command that sends an example again."""
    options = [*(["--reset"] if reset else []), *(["--kafka", kafka] if kafka else [])]
    return shlex.join(
        ["ticdc-producer", "conformance", "--testee", command, "--replay", str(folder), *options]
    )


def stored_example(folder: Path) -> FuzzExample | None:
    """Read the example of a folder that ``save_failure`` has written; None for another folder.

    :raises ConformanceError: if it cannot be read.
    """
    path = folder / EXAMPLE
    return _read(path.read_bytes(), str(path)) if path.is_file() else None


def regressions(folder: Path) -> Iterator[FuzzExample]:
    """Yield the examples of earlier failures, the newest first.

    :raises ConformanceError: if the file cannot be read.
    """
    path = folder / REGRESSIONS
    if path.is_file():
        lines = path.read_bytes().splitlines()
        for number in range(len(lines), 0, -1):
            yield _read(lines[number - 1], f"{path}:{number}")


def _add_regression(path: Path, example: FuzzExample) -> None:
    known = path.read_bytes().splitlines() if path.is_file() else []
    line = _ENCODER.encode(example)
    if line not in known:
        write_text(path, b"\n".join([*known, line, b""]).decode())


def _read(content: bytes, where: str) -> FuzzExample:
    try:
        return msgspec.json.decode(content, type=FuzzExample)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = "this tool writes the file; remove what was changed"
        raise ConformanceError(f"this is not an example: {error}", where=where, hint=hint) from None


_NUMBERS = type_names(INTEGERS | FLOATS | NUMBERED | {MySQLType.NEW_DECIMAL})
_SAME_IN_ALL = frozenset({"sink-uri", "protocol", "partition-num", "topic-partitions", "dispatchers"})
_GENERATES = "run it with `out`, and name the folder"


def recorded_example(path: Path, levels: tuple[Level, ...]) -> FuzzExample:
    """Return the example of a golden folder, or of a scenario of SQL.

    :param levels: levels of the requests.
    :raises ConformanceError: for a folder or scenario that cannot be expressed in SQL.
    :raises ProducerError: if it cannot be read.
    """
    if not path.is_dir():
        return _of_scenario(path, levels)
    stored = stored_example(path)
    if stored is not None:
        return stored
    manifest: Mapping[str, Any] = golden.manifest(path)
    changefeed = golden.changefeed(path, manifest)
    sql = (path / SCENARIO).read_text("utf-8") if (path / SCENARIO).is_file() else None
    statements = tuple(_statements(path)) if sql is None else statements_of(sql)
    return _example(
        changefeed, levels, statements, tuple(settings_of(manifest)), int(manifest.get("seed") or 0)
    )


def _of_scenario(path: Path, levels: tuple[Level, ...]) -> FuzzExample:
    scenario = load_scenario(path)
    changefeed = changefeed_of(None, None, scenario=scenario.changefeed, name=scenario.name)
    statements = tuple(statement for step in scenario.steps for statement in _of_step(scenario, step))
    inject = tuple(
        f"{name}:" + ",".join(f"{key}={value}" for key, value in fault.model_dump(exclude_none=True).items())
        for name, fault in scenario.faults.items()
    )
    return _example(changefeed, levels, statements, inject, scenario.seed)


def _of_step(scenario: ScenarioFile, step: object) -> Iterator[str]:
    if not isinstance(step, SQLStep):
        what = "a scenario with steps other than sql and txn cannot be cut"
        raise ConformanceError(what, where=scenario.file, hint=_GENERATES).about("out")
    statements = statements_of(step.text)
    yield from ("BEGIN", *statements, "COMMIT") if step.transaction else statements


def _example(
    changefeed: Changefeed,
    levels: tuple[Level, ...],
    statements: tuple[str, ...],
    inject: tuple[str, ...],
    seed: int,
) -> FuzzExample:
    protocol = next((name for name in PROTOCOLS if name == changefeed.protocol), None)
    if protocol is None:
        what = f"no history of protocol {changefeed.protocol} can be shrunk"
        raise ConformanceError(what, hint=", ".join(PROTOCOLS))
    plain = resolve(f"kafka:///{NAME}?protocol={protocol}").as_manifest()
    given = changefeed.as_manifest()
    options = {
        name: value for name, value in given.items() if name not in _SAME_IN_ALL and value != plain.get(name)
    }
    return FuzzExample(
        sql=statements,
        protocol=protocol,
        levels=levels,
        options={**options, **({"dispatchers": given["dispatchers"]} if given["dispatchers"] else {})},
        partitions=changefeed.partition_num,
        inject=tuple(trap.removesuffix(":") for trap in inject),
        seed=seed,
    )


def _statements(folder: Path) -> Iterator[str]:
    """Yield the events of a folder as SQL, in the order of their commit-ts. Repeated events occur once."""
    events: dict[str, dict[str, Any]] = {}
    path = folder / "events.jsonl"
    if not path.is_file():
        what = "the folder has no events.jsonl"
        raise ConformanceError(what, where=str(folder), hint=_GENERATES).about("out")
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            if event["kind"] in ("row", "ddl"):
                position = ("topic", "partition", "offset", "index")
                content = {name: value for name, value in event.items() if name not in position}
                events.setdefault(json.dumps(content, sort_keys=True), content)
    if not any(event["kind"] == "ddl" for event in events.values()):
        what = "the folder has no DDL events, so its tables are unknown"
        raise ConformanceError(what, where=str(folder), hint="name its scenario instead")
    in_order = sorted(events.values(), key=lambda event: int(event["commit_ts"]))
    for _, transaction in groupby(in_order, key=lambda event: event["commit_ts"]):
        group = list(transaction)
        rows = [_row_statement(event) for event in group if event["kind"] == "row"]
        yield from ("BEGIN", *rows, "COMMIT") if len(rows) > 1 else rows
        for event in group:
            if event["kind"] == "ddl":
                if event["table"]:  # the database of a DDL of a database may not exist before it
                    yield f"USE {quoted_name(event['schema'])}"
                yield str(event["query"])


def _row_statement(event: Mapping[str, Any]) -> str:
    """Return a row event as SQL, without generated columns: the table computes them."""
    table = f"{quoted_name(event['schema'])}.{quoted_name(event['table'])}"
    types = {name: str(kind) for name, kind, _ in event["columns"]}
    generated = {name for name, _, flag in event["columns"] if flag & ColumnFlag.GENERATED}
    before, after = (
        {
            quoted_name(name): _literal(types.get(name, ""), value)
            for name, value in (event[image] or {}).items()
            if name not in generated
        }
        for image in ("before", "after")
    )
    where = " AND ".join(f"{name} <=> {value}" for name, value in before.items())
    if event["op"] == "insert":
        return f"INSERT INTO {table} ({', '.join(after)}) VALUES ({', '.join(after.values())})"
    if event["op"] == "delete":
        return f"DELETE FROM {table} WHERE {where}"
    changes = ", ".join(f"{name} = {value}" for name, value in after.items())
    return f"UPDATE {table} SET {changes} WHERE {where}"


def _literal(kind: str, value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, dict):
        return f"x'{b64decode(value['b64']).hex()}'"
    if kind.partition(" ")[0].partition("(")[0] in _NUMBERS:
        return str(value)
    escaped = str(value).replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
