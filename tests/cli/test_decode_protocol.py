"""``decode`` detects the protocol if it is not given."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden_events import GOLDEN
from ticdc_producer.cli import main

NAMES = ["open", "craft.floatfix", "canal-json", "debezium"]


def _lines(variant: str, *, topic: str = "t", first: int = 0) -> list[str]:
    """A golden file as the lines that ``decode`` reads."""
    golden = (GOLDEN / "visible" / f"seed_t1.{variant}.jsonl").read_text("utf-8").splitlines()
    position = {"topic": topic, "partition": 0}
    return [
        json.dumps(
            {**position, "offset": offset, **{part: json.loads(line)[part] for part in ("key", "value")}}
        )
        for offset, line in enumerate(golden, start=first)
    ]


DAMAGED = json.dumps({"topic": "t", "partition": 1, "offset": 7, "key": "AAAA", "value": None})


def _decode(tmp_path: Path, lines: list[str], *options: str) -> int:
    path = tmp_path / "messages.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    return main(["decode", str(path), *options])


@pytest.mark.parametrize("variant", NAMES)
def test_every_protocol_is_read_without_its_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, variant: str
) -> None:
    assert _decode(tmp_path, _lines(variant)) == 0
    out = capsys.readouterr().out
    assert out.count(" insert test.t1 ") == 4
    assert "ERROR" not in out


def test_standard_input_is_read_likewise() -> None:
    command = [sys.executable, "-m", "ticdc_producer", "decode", "-"]
    lines = "\n".join(_lines("canal-json"))
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, timeout=60)
    assert "insert" in done.stdout


def test_messages_before_the_first_recognized_one_have_its_protocol(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert _decode(tmp_path, [DAMAGED, *_lines("open")]) == 1
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("t/1@7[0] ERROR OPEN-KEY-SHORT at byte 0")
    assert others
    assert not any("ERROR" in line for line in others)


def test_what_is_of_no_protocol_is_refused_with_what_was_looked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert _decode(tmp_path, [DAMAGED]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    for part in ("t/1@7", "open-protocol: a key of version 1", "isDdl", "commit_ts", "--protocol"):
        assert part in err
    assert _decode(tmp_path, [DAMAGED] * 100 + _lines("open")) == 2
    assert "none of the first 100 messages" in capsys.readouterr().err
    assert _decode(tmp_path, [DAMAGED], "--protocol", "open-protocol") == 1
    out, err = capsys.readouterr()
    assert "t/1@7[0] ERROR OPEN-KEY-SHORT" in out
    assert err == ""


def test_two_protocols_are_named_where_they_meet(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = _lines("open") + _lines("debezium", topic="u", first=5)
    assert _decode(tmp_path, lines) == 2
    out, err = capsys.readouterr()
    assert "insert" in out
    for part in ("u/0@5", "is of debezium", "of open-protocol", "--protocol"):
        assert part in err
    assert _decode(tmp_path, lines, "--protocol", "debezium") == 1
    out, err = capsys.readouterr()
    assert "DEBEZIUM-JSON" in out
    assert err == (
        "the messages look like open-protocol, and were decoded as debezium: set protocol=open-protocol\n"
    )


def test_a_protocol_of_the_config_is_not_detected(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = tmp_path / "changefeed.toml"
    config.write_text('[sink]\nprotocol = "open-protocol"\n')
    assert _decode(tmp_path, _lines("craft.floatfix"), "--config", str(config)) == 1
    assert "OPEN-KEY-SHORT" in capsys.readouterr().out


def test_no_messages_are_no_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert _decode(tmp_path, []) == 0
    assert capsys.readouterr().out == ""
