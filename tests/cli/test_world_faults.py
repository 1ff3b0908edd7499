"""Faults of the world: a full disk, a terminal without UTF-8, a registry that dies, a run that is killed.

Each is one line of error with the exit code of the pages, and nothing that is half written looks complete.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO, TextIOWrapper
from pathlib import Path
from random import Random
from threading import Thread
from time import monotonic

import pytest

import ticdc_producer
from ticdc_producer.cli import main
from ticdc_producer.cli.terminal.standard_output import guard_standard_streams
from ticdc_producer.errors import ENVIRONMENT, USAGE, RegistryError
from ticdc_producer.kafka.client import SETTABLE, InvalidValue, check_property
from ticdc_producer.targets.golden.folder import MANIFEST

COMMAND = [sys.executable, "-m", "ticdc_producer"]
SQL = "CREATE TABLE test.t (id INT PRIMARY KEY, v VARCHAR(20));\nINSERT INTO test.t VALUES (1, 'é日😀');\n"
LARGEST_FILE = 20_000
ROWS = ", ".join(f"({number}, '{number:0100}')" for number in range(1000))
LARGE_SQL = f"CREATE TABLE test.t (id INT PRIMARY KEY, v VARCHAR(200));\nINSERT INTO test.t VALUES {ROWS};\n"
"""Its messages do not fit into a file of ``LARGEST_FILE`` bytes."""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "small.sql"
    path.write_text(SQL, encoding="utf-8")
    return path


@pytest.fixture
def large_script(tmp_path: Path) -> Path:
    path = tmp_path / "large.sql"
    path.write_text(LARGE_SQL)
    return path


def _process(
    arguments: list[str],
    *,
    environment: dict[str, str] | None = None,
    before: Callable[[], None] | None = None,
    code: int = 0,
) -> tuple[bytes, str]:
    """Run a command as a process; its output and its errors."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        # A limited process must not leave compiled modules that are cut off.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})},
        capture_output=True,
        timeout=600,
        check=False,
        preexec_fn=before,
    )
    errors = done.stderr.decode("utf-8", "replace")
    assert done.returncode == code, errors
    assert "Traceback" not in errors
    return done.stdout, errors


def _small_files() -> None:
    """Let files have few bytes: writing more fails as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))


def _error_line(errors: str) -> str:
    (line,) = [line for line in errors.splitlines() if line.startswith("ticdc-producer: ")]
    return line


@pytest.mark.parametrize(
    "more",
    [
        (),
        pytest.param(("--replace",), marks=pytest.mark.slow),
        pytest.param(("--only", "messages"), id="one pass", marks=pytest.mark.slow),
    ],
)
def test_a_full_disk_leaves_no_folder(tmp_path: Path, large_script: Path, more: tuple[str, ...]) -> None:
    out = tmp_path / "out"
    _, errors = _process(
        ["run", str(large_script), "--out", str(out), *more], before=_tiny_files, code=ENVIRONMENT
    )
    assert str(out) in _error_line(errors)
    assert "free space there, or name another folder" in errors
    assert [path.name for path in tmp_path.iterdir()] == ["large.sql"]


def _tiny_files() -> None:
    """The limit of ``_small_files``, below which compressed messages do not fit either."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def test_a_full_disk_does_not_replace_a_folder(tmp_path: Path, script: Path, large_script: Path) -> None:
    out = tmp_path / "out"
    assert main(["run", str(script), "-q", "--out", str(out)]) == 0
    before = (out / MANIFEST).read_bytes()
    _process(
        ["run", str(large_script), "--out", str(out), "--replace"], before=_small_files, code=ENVIRONMENT
    )
    assert (out / MANIFEST).read_bytes() == before
    assert main(["verify", "-q", "--in", str(out)]) == 0


def test_a_full_disk_in_a_storage_sink_is_named_and_found_by_verify(
    tmp_path: Path, large_script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uri = f"file://{tmp_path}/storage?protocol=csv"
    _, errors = _process(["run", str(large_script), "--sink-uri", uri], before=_small_files, code=ENVIRONMENT)
    assert f"file://{tmp_path}/storage" in _error_line(errors)
    assert "remove them before you run again" in errors
    assert not (tmp_path / "storage" / "metadata").exists()
    assert main(["verify", "--sink-uri", uri]) == 1
    assert "metadata: it is missing" in capsys.readouterr().out


@pytest.mark.slow
def test_a_full_disk_with_spark_leaves_no_folder(tmp_path: Path, large_script: Path) -> None:
    """Spark writes files of its own, so the limit holds for the disk of the folder alone."""
    out = tmp_path / "small" / "out"
    out.parent.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(out.parent)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    try:
        for more in ((), ("--only", "messages")):
            run = ["run", str(large_script), "--engine", "spark", "--out", str(out), *more]
            _, errors = _process(run, code=ENVIRONMENT)
            assert str(out) in _error_line(errors)
            assert list(out.parent.iterdir()) == []
    finally:
        subprocess.run(["umount", "-l", str(out.parent)], check=True)


def test_a_report_that_cannot_be_written_is_a_failure_of_the_environment(
    tmp_path: Path, script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.xml"
    report.symlink_to("/dev/full")
    run = ["run", str(script), "-q", "--out", str(tmp_path / "out"), "--junit-xml", str(report)]
    assert main(run) == ENVIRONMENT
    errors = capsys.readouterr().err
    assert f"{report}: the report cannot be written: No space left on device" in errors
    assert report.is_symlink(), "a device is not replaced by a file"


OUTPUTS = {
    "run": lambda script, _golden, new: ["run", str(script), "--out", str(new)],
    "run as JSON": lambda script, _golden, new: ["run", str(script), "--out", str(new), "--json"],
    "decode": lambda _script, golden, _new: ["decode", "--in", str(golden)],
    "decode as JSON": lambda _script, golden, _new: ["decode", "--in", str(golden), "--format", "jsonl"],
    "verify": lambda _script, golden, _new: ["verify", "--in", str(golden)],
    "traps": lambda *_: ["traps", "list"],
    "coverage": lambda _script, golden, _new: ["coverage", "--in", str(golden)],
}


PRINTS = ("run", "decode")
"""One for each way to print: rich text, and lines as they are read."""


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The golden folder of ``SQL``, which tests only read."""
    folder = tmp_path_factory.mktemp("golden")
    (folder / "small.sql").write_text(SQL, encoding="utf-8")
    assert main(["run", str(folder / "small.sql"), "-q", "--out", str(folder / "out")]) == 0
    return folder / "out"


def _printed(arguments: list[str], encoding: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a command prints to a terminal with an encoding."""
    written = BytesIO()
    with monkeypatch.context() as replaced:
        terminal = TextIOWrapper(written, encoding=encoding)
        replaced.setattr(sys, "stdout", terminal)
        guard_standard_streams()
        assert main(arguments) == 0
        sys.stdout.flush()
        return written.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_terminal_without_utf8_gets_escapes(
    tmp_path: Path, script: Path, golden: Path, monkeypatch: pytest.MonkeyPatch, name: str, encoding: str
) -> None:
    text = _printed(OUTPUTS[name](script, golden, tmp_path / "again"), encoding, monkeypatch)
    if "decode" in name:
        assert "\\u65e5\\ud83d\\ude00" in text
    if name.endswith("as JSON"):
        documents = text.splitlines() if name.startswith("decode") else [text]
        assert [json.loads(document) for document in documents]


def test_json_with_escapes_has_the_same_values(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decode = ["decode", "--in", str(golden), "--format", "jsonl"]
    printed = {encoding: _printed(decode, encoding, monkeypatch) for encoding in ("ascii", "utf-8")}
    lines = {encoding: [*map(json.loads, text.splitlines())] for encoding, text in printed.items()}
    assert lines["ascii"] == lines["utf-8"]
    process, _ = _process(decode, environment={"PYTHONIOENCODING": "ascii"})
    assert process.decode("ascii") == printed["ascii"]
    assert "é日😀" in str(lines["utf-8"])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in PRINTS else pytest.mark.slow) for name in OUTPUTS]
)
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, script: Path, golden: Path, name: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            [*COMMAND, *OUTPUTS[name](script, golden, tmp_path / "again")],
            stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=600, check=False,
        )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr, "Exception ignored" in done.stderr) == (
        0, False, False,
    )  # fmt: skip


def test_a_reader_that_goes_away_does_not_change_the_verdict(tmp_path: Path) -> None:
    faulty, out = Path(__file__).parents[1] / "runs" / "faulty.yaml", tmp_path / "out"
    assert main(["run", str(faulty), "-q", "--out", str(out), "--inject", "lost-row"]) == 0
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run([*COMMAND, "verify", "--in", str(out)], stdout=pipe, timeout=600, check=False)
    assert done.returncode == 1


def test_output_to_a_full_disk_is_one_line(tmp_path: Path, script: Path) -> None:
    out = tmp_path / "out"
    assert main(["run", str(script), "-q", "--out", str(out)]) == 0
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "decode", "--in", str(out)],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=600, check=False,
        )  # fmt: skip
    assert done.returncode == ENVIRONMENT
    assert done.stderr.startswith("ticdc-producer: the output cannot be written: No space left on device")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command", ["run", *(pytest.param(name, marks=pytest.mark.slow) for name in ("verify", "decode"))]
)
def test_a_closed_standard_output_changes_neither_files_nor_exit_code(
    tmp_path: Path, script: Path, command: str
) -> None:
    folder, expected = tmp_path / "folder", tmp_path / "expected"
    assert main(["run", str(script), "-q", "--out", str(expected)]) == 0
    arguments = [str(script), "--out", str(folder)] if command == "run" else ["--in", str(expected)]
    _process([command, *arguments], before=_without_standard_output)
    if command == "run":
        assert (folder / MANIFEST).read_bytes() == (expected / MANIFEST).read_bytes()


def _without_standard_output() -> None:
    """Close the standard output, as ``>&-`` does in a shell."""
    os.close(1)


class _Registry(BaseHTTPRequestHandler):
    """A registry that registers a number of schemas, and then fails."""

    served = 0
    served_before_it_fails = 1

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).served += 1
        content = json.dumps({"id": type(self).served}).encode()
        self.send_response(200 if self.served <= self.served_before_it_fails else 500)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Write no log."""


@contextmanager
def _registry(served_before_it_fails: int) -> Iterator[str]:
    handler = type("Handler", (_Registry,), {"served_before_it_fails": served_before_it_fails, "served": 0})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("schemas", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_a_registry_that_dies_leaves_neither_folder_nor_topic(tmp_path: Path, schemas: int) -> None:
    script, out = tmp_path / "two.sql", tmp_path / "out"
    script.write_text(SQL + SQL.replace("test.t", "test.u"), encoding="utf-8")
    with _registry(schemas) as url:
        _, address = url.split("//")
        uri = f"kafka:///x?protocol=avro&schema-registry=http://ann:s3cret@{address}"
        with pytest.raises(RegistryError, match=address) as raised:
            ticdc_producer.run(script, sink_uri=uri, out=out, keep=True)
    assert "s3cret" not in str(raised.value)
    assert raised.value.exit_code == ENVIRONMENT
    assert [path.name for path in tmp_path.iterdir()] == ["two.sql"]


def test_a_folder_is_verified_with_its_own_schemas(tmp_path: Path, script: Path) -> None:
    """The registry's ids are others, and it need not run."""
    uri = "kafka:///x?protocol=avro&schema-registry=http://127.0.0.1:1"
    assert main(["run", str(script), "-q", "--out", str(tmp_path / "out"), "--sink-uri", uri]) == 0


PROPERTIES = [
    ("cleint.id=x", "no Kafka client has a property 'cleint.id' (did you mean 'client.id'?)"),
    (
        "bootsrap.servers=x",
        "no Kafka client has a property 'bootsrap.servers' (did you mean 'bootstrap.servers'?)",
    ),
    ("stats_cb=x", "no Kafka client has a property 'stats_cb'"),
    ("default.topic.config=x", "no Kafka client has a property 'default.topic.config'"),
    ("linger.ms=soon", "invalid value of property 'linger.ms'"),
    ("statistics.interval.ms=99999999999", "allowed: 0 to 86400000"),
]


@pytest.mark.parametrize(("given", "text"), PROPERTIES)
def test_a_property_that_no_client_knows_is_refused_without_a_broker(
    tmp_path: Path, script: Path, capsys: pytest.CaptureFixture[str], given: str, text: str
) -> None:
    assert main(["run", str(script), "--out", str(tmp_path / "out"), "-X", given]) == USAGE
    assert main(["run", str(script), "--dry-run", "-X", given]) == USAGE
    errors = capsys.readouterr().err
    assert errors.count(f"-X: {text}" if text.startswith(("no", "inv")) else text) == 2
    assert errors.count("\n") == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["verify", "decode", "coverage"])
def test_a_folder_does_not_excuse_a_wrong_property(
    tmp_path: Path, script: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    out = str(tmp_path / "out")
    assert main(["run", str(script), "-q", "--out", out]) == 0
    capsys.readouterr()
    assert main([command, "--in", out, "-X", "lingr.ms=5"]) == USAGE
    assert "did you mean 'linger.ms'?" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(SETTABLE))
def test_the_client_knows_every_name_of_a_hint(name: str) -> None:
    with suppress(InvalidValue):
        check_property(name, "1")


KILLS = 20


def _killed_at(arguments: list[str], seconds: float) -> bool:
    """Start a command, and kill it after a time; whether it was still running."""
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def _seconds(command: list[str]) -> float:
    began = monotonic()
    _process(command)
    return monotonic() - began


def _kill_into_a_folder(tmp_path: Path, script: Path, kills: int, *options: str) -> None:
    """Kill some runs, each at a random moment; a folder is complete, or does not have its name."""
    run = ["run", str(script), "--out", "", *options]
    # The first run is slower than the others, so that no kill would come before their end.
    duration = min(
        _seconds([*run[:3], str(tmp_path / f"measured-{number}"), *options]) for number in range(2)
    )
    random, number, killed = Random(5), 0, 0
    while killed < kills:
        number += 1
        out = tmp_path / f"out-{number}"
        run[3] = str(out)
        moment = random.uniform(0, duration)
        if _killed_at(run, moment):
            killed += 1
        else:
            duration = moment  # it was faster than those that were measured
        if out.exists():  # it has its name, so it is complete
            assert main(["verify", "-q", "--in", str(out)]) == 0
        else:
            assert main(["verify", "-q", "--in", str(out)]) == USAGE
        assert main([*run, "--replace", "-q"]) == 0
        assert main(["verify", "-q", "--in", str(out)]) == 0
        assert not out.with_name(f"{out.name}.partial").exists()


def test_a_killed_run_leaves_no_folder_that_looks_complete(tmp_path: Path, large_script: Path) -> None:
    _kill_into_a_folder(tmp_path, large_script, 2)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_run_killed_at_any_moment_leaves_no_folder_that_looks_complete(
    tmp_path: Path, large_script: Path, engine: str
) -> None:
    _kill_into_a_folder(tmp_path, large_script, KILLS, "--engine", engine)


WALL_CLOCK = {
    "cli/reports.py": "the date of a report",
    "runs/following/follow.py": "the lag of a resolved-ts",
    "runs/rate.py": "--rate",
    "serve/tasks/task.py": "the list of tasks",
    "simulate/job.py": "clock.build-time: now",
    "verifier/options.py": "a commit-ts more than a day ahead is a finding",
}
_CLOCKS = {"time.time", "time.time_ns", "time_ns", "datetime.now", "datetime.utcnow", "date.today"}


def test_nothing_else_reads_the_wall_clock() -> None:
    """A clock that jumps therefore changes no message and no time limit."""
    package = Path(ticdc_producer.__file__).parent
    users = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if any(clock in (text := path.read_text(encoding="utf-8")) for clock in _CLOCKS)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _CLOCKS
    }
    assert users == set(WALL_CLOCK)
