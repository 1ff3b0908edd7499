"""Faults in the files of a folder of ``migrations`` are found by ``verify --in``."""

from __future__ import annotations

import json
import shutil
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.replica.faulty_rows import FAST, FAULTS, Fault
from tests.runs.test_folder_expectations import edited
from ticdc_producer import api
from ticdc_producer.model.event import Record
from ticdc_producer.protocols import registry
from ticdc_producer.targets.decode import event_rows

URI = "kafka:///migrations?protocol=canal-json&partition-num=3&enable-tidb-extension=true"
Line = dict[str, Any]


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder without faults; each of its messages has one event."""
    path = tmp_path_factory.mktemp("migrations") / "out"
    assert api.run("migrations", sink_uri=URI, out=path).ok
    assert api.verify(folder=path).ok
    return path


def with_fault(fault: Fault, lines: list[Line]) -> list[Line]:
    """The lines of ``messages.jsonl`` with a fault in one row, or without it."""
    decoder = registry.decoder("canal-json", {})
    events = [{**row, "line": line} for line in lines for row in event_rows(_record(line), decoder)]
    assert len(events) == len(lines)
    return [_changed(event["line"], fault, event in events) for event in fault.applied(events)]


def _record(line: Line) -> Record:
    key, value = (None if line[name] is None else b64decode(line[name]) for name in ("key", "value"))
    where = {name: line[name] for name in ("topic", "partition", "offset")}
    return Record(**where, key=key, value=value)


def _changed(line: Line, fault: Fault, unchanged: bool) -> Line:
    """The line of a row with other values, or with the name of another table."""
    if unchanged:
        return line
    message = json.loads(b64decode(line["value"]))
    message["data"][0].update(fault.values)
    message["table"] = fault.other_table or message["table"]
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return {**line, "value": b64encode(text.encode()).decode("ascii")}


def unnoticed(folder: Path, copy: Path, faults: tuple[Fault, ...]) -> list[str]:
    """The faults that the comparison of events, or that of tables, does not find."""
    missed = []
    for number, fault in enumerate(faults):
        path = copy / str(number)
        shutil.copytree(folder, path)
        before = (path / "messages.jsonl").read_bytes()
        edited(path, "messages.jsonl", lambda lines, fault=fault: with_fault(fault, lines))
        assert (path / "messages.jsonl").read_bytes() != before
        verdict = api.verify(folder=path)
        assert verdict.comparison is not None
        assert verdict.state is not None
        if verdict.ok or verdict.comparison.ok or verdict.state.ok:
            missed.append(str(fault))
    return missed


def test_a_fault_in_a_file_is_found(folder: Path, tmp_path: Path) -> None:
    assert len(FAULTS) >= 30
    assert unnoticed(folder, tmp_path, FAST[:3]) == []


@pytest.mark.slow
def test_all_faults_in_files_are_found(folder: Path, tmp_path: Path) -> None:
    assert unnoticed(folder, tmp_path, FAULTS) == []
