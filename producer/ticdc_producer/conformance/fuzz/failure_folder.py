"""Stores failures: a golden folder for each, and one file with all of them that runs first next time."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import msgspec

from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.shrink import Failure
from ticdc_producer.conformance.fuzz.topic import build_topic
from ticdc_producer.errors import ConformanceError, ReportError
from ticdc_producer.reports.target import write_text
from ticdc_producer.runs.golden_target import write_small_folder

SCENARIO, EXAMPLE = "scenario.sql", "example.json"
REGRESSIONS = "regressions.jsonl"
_OUTCOME, _REQUEST = "outcome.json", "request.json"
_ENCODER = msgspec.json.Encoder(order="deterministic")


def save_failure(folder: Path, failure: Failure, command: str) -> Path:
    """Write the smallest example of a failure as a golden folder, and add it to the regression file.

    :param folder: contains the golden folder and the regression file; created if it is missing.
    :param command: the command of the testee.
    :returns: the golden folder.
    :raises ReportError: if it cannot be written.
    """
    example = failure.smallest
    line = _ENCODER.encode(example)
    path = folder / f"{example.protocol}-{sha256(line).hexdigest()[:12]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (path / _OUTCOME).exists():  # written by an earlier run
            shutil.rmtree(path)
        write_small_folder(path, build_topic(example).job)
    except OSError as error:
        what = f"the failing example cannot be written: {error.strerror}"
        raise ReportError(what, path=str(path)) from None
    outcome = {
        "replay": replay_command(command, path),
        "reasons": list(failure.wrong.reasons),
        "answer": failure.wrong.answer,
    }
    write_text(path / SCENARIO, example.text)
    write_text(path / EXAMPLE, msgspec.json.format(line, indent=2).decode() + "\n")
    write_text(path / _REQUEST, msgspec.json.encode(failure.wrong.case.request).decode() + "\n")
    write_text(path / _OUTCOME, json.dumps(outcome, indent=2, ensure_ascii=False) + "\n")
    _add_regression(folder / REGRESSIONS, example)
    return path


def replay_command(command: str, folder: Path) -> str:
    """The command that sends an example again."""
    return shlex.join(["ticdc-producer", "conformance", "--testee", command, "--replay", str(folder)])


def stored_example(folder: Path) -> FuzzExample | None:
    """The example of a folder that ``save_failure`` has written; None for another folder.

    :raises ConformanceError: if it cannot be read.
    """
    path = folder / EXAMPLE
    return _read(path.read_bytes(), str(path)) if path.is_file() else None


def regressions(folder: Path) -> Iterator[FuzzExample]:
    """The examples of earlier failures, the newest first.

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
