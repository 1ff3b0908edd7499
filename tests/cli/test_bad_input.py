"""Bad input: a clear message, the right exit code, nothing written."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest
from pyspark.sql import SparkSession

from ticdc_producer.cli import main
from ticdc_producer.kafka.client import CONNECT_SECONDS

GOOD = "CREATE TABLE test.t (id INT PRIMARY KEY, v TINYINT);\nINSERT INTO test.t VALUES (1, 1);\n"
Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return _write


def _refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], *parts: str, code: int = 2
) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    for part in parts:
        assert part in err, err
    assert sorted(tmp_path.rglob("*")) == before


SQL = [
    ("", "empty.sql", "no SQL"),
    ("SELEC 1;", "bad.sql:1", "SELEC"),
    (GOOD + "INSERT INTO test.t VALUES (2, 300);", "bad.sql:3", "300", "v"),
    (GOOD + "INSERT INTO test.t VALUES (1, 2);", "bad.sql:3", "Duplicate", "1"),
    (GOOD + "\nDELETE FROM test.nobody;", "bad.sql:4", "nobody"),
    (GOOD + "INSERT INTO test.t (id, w) VALUES (2, 1);", "bad.sql:3", "w"),
    (GOOD + "ALTER TABLE test.t ADD SPATIAL INDEX f (v);", "bad.sql:3", "SPATIAL"),
    (GOOD + "BEGIN;\nINSERT INTO test.t VALUES (2, 1);", "bad.sql:3", "COMMIT"),
]


@pytest.mark.parametrize(
    ("sql", "location", "parts"), [(sql, location, parts) for sql, location, *parts in SQL]
)
def test_sql(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    write: Write,
    sql: str,
    location: str,
    parts: list[str],
) -> None:
    path = write(location.partition(":")[0], sql)
    _refused(capsys, tmp_path, ["run", path, "--out", str(tmp_path / "out")], location, *parts)


def test_a_yaml_reports_everything_that_is_wrong_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write
) -> None:
    path = write(
        "bad.yaml",
        "version: 1\nnmae: x\nclock: {evry: 1s}\nsteps:\n  - sql: CREATE TABLE test.t (id INT PRIMARY KEY)\n"
        "  - generate: {}\n",
    )
    _refused(
        capsys, tmp_path, ["scenario", "validate", path],
        f"{path}:2", "'name'", f"{path}:3", "'every'", f"{path}:6", "generate",
    )  # fmt: skip


URIS = [
    ("kafka:///t?protocol=open-protocl", "open-protocol"),
    ("kafka:///t?protocol=debezium-avro&profile=classic", "debezium-avro"),
    ("kafka://127.0.0.1:1/t?protocol=avro", "schema-registry"),
    ("kafka:///t?partition-nm=2", "partition-num"),
    ("kafka:///t?partition-num=0", "partition-num"),
    ("kafka:///t?max-batch-size=many", "max-batch-size"),
    ("mysql://root@localhost:3306/", "kafka"),
]


@pytest.mark.parametrize(("uri", "named"), URIS)
def test_sink_uri(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write, uri: str, named: str
) -> None:
    arguments = ["run", write("good.sql", GOOD), "--sink-uri", uri, "--out", str(tmp_path / "out")]
    _refused(capsys, tmp_path, arguments, named)


def test_yaml_syntax_missing_files_and_unknown_names(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write
) -> None:
    _refused(capsys, tmp_path, ["run", write("broken.yaml", "steps: [")], "broken.yaml:1")
    _refused(capsys, tmp_path, ["run", write("empty.yaml", "")], "empty")
    _refused(capsys, tmp_path, ["run", str(tmp_path / "none.sql")], "none.sql", "No such file")
    _refused(capsys, tmp_path, ["run", "seed_t2"], "seed_t1")
    _refused(capsys, tmp_path, ["run", "seed_t1", "--set", "clock.evry=2s"], "every")
    _refused(capsys, tmp_path, ["run", "seed_t1", "--config", str(tmp_path / "no.toml")], "no.toml")


def test_unknown_commands_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rum"]) == 2
    assert main(["run", "seed_t1", "--sink"]) == 2
    assert main(["verify"]) == 2
    assert main(["decode"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_row_over_the_limit_stops_before_anything_is_written_or_is_skipped_on_demand(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write
) -> None:
    sql = "CREATE TABLE test.t (id INT PRIMARY KEY, v VARCHAR(2000));\n"
    sql += f"INSERT INTO test.t VALUES (1, 'short'), (2, '{'x' * 1500}'), (3, 'short too');\n"
    uri = "kafka:///t?protocol=open-protocol&partition-num=1&max-message-bytes=1000"
    run = ["run", write("large.sql", sql), "--sink-uri", uri, "--out", str(tmp_path / "out")]
    _refused(capsys, tmp_path, run, "CDC:ErrMessageTooLarge", "table:t", "maxMessageBytes:1000", "on-error")
    assert main([*run, "--set", "on-error=skip"]) == 0
    capsys.readouterr()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [entry["table"] for entry in manifest["skipped"]] == ["test.t"]
    rows = [json.loads(line) for line in (tmp_path / "out" / "events.jsonl").read_text().splitlines()]
    assert [row["after"]["id"] for row in rows if row["kind"] == "row"] == ["1", "3"]


def test_a_broker_that_does_not_answer_is_an_error_after_the_timeout_of_the_client(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
    run = ["run", write("good.sql", GOOD), "--sink-uri", f"kafka://{address}/t"]
    started = monotonic()
    _refused(capsys, tmp_path, [*run, "-X", "socket.connection.setup.timeout.ms=1000"], address, code=3)
    assert 1 <= monotonic() - started < CONNECT_SECONDS


def test_golden_folders_that_are_damaged(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write
) -> None:
    folder = tmp_path / "golden"
    assert main(["run", write("good.sql", GOOD), "--out", str(folder)]) == 0
    capsys.readouterr()
    _refused(capsys, tmp_path, ["run", write("good.sql", GOOD), "--out", str(folder)], "already exists")
    messages = folder / "messages.jsonl"
    whole = messages.read_bytes()
    messages.write_bytes(whole[:-20])
    for command in ("verify", "decode"):
        _refused(
            capsys,
            tmp_path,
            [command, "--in", str(folder)],
            "messages.jsonl",
            "differs from what the manifest lists",
        )
    messages.unlink()
    _refused(capsys, tmp_path, ["verify", "--in", str(folder)], "messages.jsonl", "missing")
    _refused(capsys, tmp_path, ["verify", "--in", str(tmp_path / "no")], "no such folder")
    messages.write_bytes(whole)
    manifest = json.loads((folder / "manifest.json").read_text())
    for command, key in (("verify", "skipped"), ("coverage", "faults")):
        (folder / "manifest.json").write_text(json.dumps({**manifest, key: -1}))
        _refused(
            capsys, tmp_path, [command, "--in", str(folder)], "manifest.json", f"its {key} are not a list"
        )
    del manifest["files"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    for command in ("verify", "decode"):
        _refused(capsys, tmp_path, [command, "--in", str(folder)], "manifest.json", "files are not a mapping")
    (folder / "manifest.json").write_text("{")
    _refused(capsys, tmp_path, ["decode", "--in", str(folder)], "manifest.json", "not JSON")
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").mkdir()
    _refused(capsys, tmp_path, ["verify", "--in", str(folder)], "manifest.json", "Is a directory")


def test_paths_of_other_kinds(capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write) -> None:
    file = write("file", "hello")
    _refused(capsys, tmp_path, ["verify", "--sink-uri", f"file://{file}?protocol=csv"], file, "does not have")
    _refused(capsys, tmp_path, ["run", "\ud800"], "\\ud800", "not the path of a file or folder")
    rules = ["mask", write("dump.sql", GOOD), "--rules", write("rules.yaml", "[]")]
    rules += ["--out", str(tmp_path / "masked.sql")]
    _refused(capsys, tmp_path, rules, "rules.yaml:1: the file must hold keys")


def test_lines_that_are_no_messages_and_bytes_that_do_not_decode(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write
) -> None:
    _refused(capsys, tmp_path, ["decode", write("a.jsonl", "{}\n")], "a.jsonl:1", "not a message")
    damaged = {"topic": "t", "partition": 1, "offset": 7, "key": "AAAA", "value": None}
    path = write("b.jsonl", json.dumps(damaged) + "\n")
    assert main(["decode", path, "--protocol", "open-protocol"]) == 1
    assert "t/1@7[0] ERROR OPEN-KEY-SHORT at byte 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--suggest", "--out", "masked.sql"], "--suggest cannot be combined with --out"),
        (["--suggest", "--rules", "rules.yaml"], "--suggest cannot be combined with --rules"),
        (["--rules", "r.yaml", "--out", "x.sql", "--in", "golden"], "--in requires --suggest"),
        (["--rules", "r.yaml"], "give a dump, --rules and --out, or --suggest"),
    ],
)
def test_options_of_mask_without_effect(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write, options: list[str], part: str
) -> None:
    _refused(capsys, tmp_path, ["mask", write("dump.sql", GOOD), *options], part)


_HOST = ("--sink-uri", "kafka://127.0.0.1:1/t")
PACED = [
    (["--duration", "10m"], "--rate"),
    (["--rate", "fast"], "not a rate"),
    (["--rate", "5/s", "--resume"], "--resume"),
    (["--rate", "5/s", "--out", "x"], "--out"),
    (["--rate", "5/s", "--duration", "long"], "not a duration"),
    (["--rate", "999999999/s"], "microsecond"),
    (["--resume"], "--resume requires a sink URI with a broker"),
    (["--rate", "5/s", "--append"], "--append requires a sink URI with a broker"),
    (["--rate", "5/s", "--keep", *_HOST], "--keep applies to the embedded broker"),
]


@pytest.mark.parametrize(("options", "part"), PACED)
def test_options_of_long_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: list[str], part: str
) -> None:
    _refused(capsys, tmp_path, ["run", "bank", *options], part)


OF_A_BROKER = [
    (["--replace"], "--replace requires --out, or a sink URI with a broker"),
    (["--append", "--out", "x"], "--append cannot be combined with --out (the sink URI names no host"),
    (["--append", "--only", "messages", "--out", "x"], "--append cannot be combined with --out"),
    (["--keep", "--dry-run"], "--keep cannot be combined with --dry-run (a dry run writes nothing)"),
    (
        ["--append", "--dry-run", *_HOST],
        "--append cannot be combined with --dry-run (a dry run writes nothing)",
    ),
    (["--append"], "--append requires a sink URI with a broker (kafka://HOST:PORT/TOPIC"),
    (["--keep", *_HOST], "--keep applies to the embedded broker, which this run does not start"),
]


@pytest.mark.parametrize(("options", "part"), OF_A_BROKER)
def test_options_of_a_broker_that_a_run_does_not_have(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: list[str], part: str
) -> None:
    _refused(capsys, tmp_path, ["run", "seed_t1", *options], part)


@pytest.mark.parametrize("options", [["--out", "zz"], ["--protocol", "all"]])
def test_options_of_golden_before_its_subcommand(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: list[str]
) -> None:
    part = f"{options[0]} is not an option of `golden diff` (golden diff A B)"
    _refused(capsys, tmp_path, ["golden", *options, "diff", str(tmp_path), str(tmp_path)], part)


def test_a_folder_and_a_topic_at_once_may_be_appended_to(capsys: pytest.CaptureFixture[str]) -> None:
    """No broker answers at the address: the broker fails, the options are accepted."""
    options = ["--append", "--out", "x", "-X", "socket.connection.setup.timeout.ms=1000"]
    assert main(["run", "seed_t1", *options, *_HOST]) == 3
    assert "127.0.0.1:1" in capsys.readouterr().err


def test_an_argument_that_is_not_text_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    commands = (
        (["run", "sc\udcff.sql", "--out", "out"], "sc\\xff.sql"),
        (["verify", "--in", "\udc83"], "\\x83"),
    )
    for arguments, argument in commands:
        assert main(arguments) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "is not text in the encoding of the locale (rename the file; or set PYTHONUTF8=1" in line
        assert f"the argument {argument} is not text" in line
