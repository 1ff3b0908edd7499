"""Ten restart bugs, written without knowledge of the runner: which of them it finds, and which not."""

from __future__ import annotations

import base64
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.restart.bugs import BLIND_BUGS, BUGS, TESTEES, RestartBug, bug, command
from tests.conformance.restart.table import SEEDS, measured
from tests.conformance.restart.test_bugs import assert_is_found
from tests.conftest import EXHAUSTIVE

FOUND = tuple(entry for entry in BLIND_BUGS if not entry.lacks)


def test_ten_bugs_in_four_languages_differ_from_the_twenty() -> None:
    assert len({entry.name for entry in BLIND_BUGS + BUGS}) == len(BLIND_BUGS) + len(BUGS) == 30
    assert len(BLIND_BUGS) == 10
    for language in TESTEES:
        assert sum(entry.language == language for entry in BLIND_BUGS) >= 2
    assert all(entry.does for entry in BLIND_BUGS)


def test_eight_of_them_are_found_and_two_lack_something() -> None:
    assert len(FOUND) == 8
    results = {entry.name for entry in BLIND_BUGS if measured().get(entry.name)}
    assert results <= {entry.name for entry in FOUND}


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS if EXHAUSTIVE else SEEDS[:1])
@pytest.mark.parametrize("change", FOUND, ids=lambda change: f"{change.language}: {change.name}")
def test_a_bug_is_found(change: RestartBug, seed: int, tmp_path: Path) -> None:
    assert_is_found(change, seed, tmp_path)


def row(table: str, key: str, commit_ts: int) -> dict[str, Any]:
    """The message of an insert in Canal-JSON."""
    return {
        "type": "INSERT",
        "isDdl": False,
        "database": "test",
        "table": table,
        "es": 0,
        "pkNames": ["k"],
        "mysqlType": {"k": "int"},
        "data": [{"k": key}],
        "old": None,
        "_tidb": {"commitTs": commit_ts},
    }


def resolved(ts: int) -> dict[str, Any]:
    return {"type": "TIDB_WATERMARK", "isDdl": False, "es": 0, "_tidb": {"watermarkTs": ts}}


Topics = dict[str, list[dict[str, Any]]]
"""Partition → its messages."""


class Conversation:
    """A case of a testee, without the runner."""

    def __init__(self, testee: str, directory: Path, topics: Topics) -> None:
        directory.mkdir()
        self.process = subprocess.Popen(
            shlex.split(testee), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.directory, self.topics = str(directory), topics
        self.committed: dict[str, int] = {}
        self.step = 0

    def ask(self, do: str, **content: Any) -> dict[str, Any]:
        request = {"do": do, "case": "two-lives", "level": "restart", "step": self.step, **content}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert answer["step"] == self.step
        assert "error" not in answer
        self.step += 1
        self.committed |= answer.get("committed", {})
        return answer

    def start(self) -> dict[str, int]:
        """Begin a life; return the offset of each partition."""
        self.step, names = 0, list(self.topics)
        answer = self.ask(
            "start",
            protocol="canal-json",
            options={},
            directory=self.directory,
            partitions={name.split("/")[0]: 1 for name in names},
            assigned=names,
            committed=self.committed,
        )
        return {name: answer["offsets"].get(name, self.committed.get(name, 0)) for name in names}

    def deliver(self, name: str, offset: int) -> None:
        value = base64.b64encode(json.dumps(self.topics[name][offset]).encode()).decode()
        topic, partition = name.split("/")
        message = {"topic": topic, "partition": int(partition), "offset": offset, "key": None, "value": value}
        self.ask("deliver", messages=[message])


def rows_after_two_lives(
    testee: str, directory: Path, topics: Topics, first: list[tuple[str, int]]
) -> dict[str, list[str]]:
    """The keys of each table if the first life is stopped after these messages; the second one reads all."""
    case = Conversation(testee, directory, topics)
    try:
        case.start()
        for name, offset in first:
            case.deliver(name, offset)
        for name, begin in case.start().items():
            for offset in range(begin, len(topics[name])):
                case.deliver(name, offset)
        answer = case.ask("rows", tables=["test.a", "test.b"], resolved_ts=None)
        return {table: [line["k"] for line in lines] for table, lines in answer["tables"].items()}
    finally:
        case.process.kill()
        case.process.communicate()


def test_rows_of_two_tables_against_the_order_of_their_commit_ts_show_a_bug_that_is_not_found(
    tmp_path: Path,
) -> None:
    """``docs/stream-semantics.md §8``: different tables in one partition have no order."""
    change = bug("commits the offset of the row that waits with the smallest commit-ts")
    topics = {"fuzz/0": [row("a", "1", 30), row("b", "2", 20), resolved(10), resolved(40)]}
    first = [("fuzz/0", 0), ("fuzz/0", 1), ("fuzz/0", 2)]
    wrong = command(change.language, tmp_path / "wrong", change)
    right = command(change.language, tmp_path / "right")
    assert rows_after_two_lives(right, tmp_path / "1", topics, first) == {"test.a": ["1"], "test.b": ["2"]}
    assert rows_after_two_lives(wrong, tmp_path / "2", topics, first) == {"test.a": [], "test.b": ["2"]}


@pytest.mark.slow
def test_two_topics_show_a_bug_that_is_not_found(tmp_path: Path) -> None:
    change = bug("stores offsets by the number of a partition, without its topic")
    topics = {
        "a/0": [row("a", "1", 5), row("a", "2", 6), resolved(10), resolved(20)],
        "b/0": [resolved(10), row("b", "3", 15), resolved(20)],
    }
    first = [("b/0", 0), ("a/0", 0), ("a/0", 1), ("a/0", 2)]
    wrong = command(change.language, tmp_path / "wrong", change)
    right = command(change.language, tmp_path / "right")
    whole = {"test.a": ["1", "2"], "test.b": ["3"]}
    assert rows_after_two_lives(right, tmp_path / "1", topics, first) == whole
    assert rows_after_two_lives(wrong, tmp_path / "2", topics, first) == {**whole, "test.b": []}
