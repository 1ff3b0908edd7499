"""``--server``: what a command sends, and that it prints what the local command prints."""

from __future__ import annotations

import io
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

import ticdc_producer
from tests.editor import Editor
from tests.serve.conftest import served
from ticdc_producer.cli import main
from ticdc_producer.cli.remote.frames import CONTENT_TYPE, MOST_BYTES, frame, parts_of, read_frames
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.serve.settings import Limits, ServeSettings

SQL = "CREATE TABLE t (id INT PRIMARY KEY, v INT);\nINSERT INTO t VALUES (1, 10), (2, 20);\n"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("client.sql").write_text(SQL)
    return "client.sql"


def _output(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main([*arguments])
    out, err = capsys.readouterr()
    return code, re.sub(r"kafka://\S+?/", "kafka://HOST/", out), err


def test_a_run_prints_what_the_local_command_prints(
    url: str, kafka: EmbeddedKafka, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    local = f"kafka://{kafka.bootstrap}/run-by-server?protocol=open-protocol&partition-num=3"
    assert _output(capsys, "run", script, "--sink-uri", local, "--server", url)[0] == 0
    for options in ([], ["--quiet"], ["--json"]):
        wanted = _output(capsys, "run", script, "--sink-uri", local, "--replace", *options)
        remote = _output(capsys, "run", script, "--sink-uri", local, "--replace", "--server", url, *options)
        assert remote[:2] == wanted[:2]
        assert set(remote[2].splitlines()) >= set(wanted[2].splitlines()) - {"starting Spark"}
    assert _output(capsys, "run", script, "--server", url, "-q") == (0, "verified\n", "")


def test_a_golden_folder_comes_back(
    url: str, script: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICDC_PRODUCER_SERVER", url)
    script = Path(script).rename("folder.sql").name
    options = ["--seed", "7", "--inject", "duplicate-message:rate=1", "--out", "golden"]
    assert _output(capsys, "run", script, *options)[0] == 0
    assert (Path("golden") / "state" / "test.t.jsonl").exists()
    assert "the folder already exists" in _output(capsys, "run", script, *options)[2]
    Path("empty").mkdir()
    for target in ("absent", "empty"):
        Path(f"link-to-{target}").symlink_to(target)
        refused = _output(capsys, "run", script, "--out", f"link-to-{target}")
        assert (refused[0], "the folder already exists" in refused[2]) == (2, True)
    assert _output(capsys, "run", script, *options, "--replace")[0] == 0
    monkeypatch.delenv("TICDC_PRODUCER_SERVER")
    assert _output(capsys, "verify", "--in", "golden", "--scenario", script)[0] == 0


def test_the_verification_of_a_folder_can_be_ended(
    kafka: EmbeddedKafka, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The content of a posted folder is a stranger's: a process that the service can kill verifies it."""
    assert _output(capsys, "run", script, "--out", "golden")[0] == 0
    with served(ServeSettings(kafka=kafka.bootstrap, limits=Limits(seconds=0.001))) as url:
        for _ in range(2):
            code, out, err = _output(capsys, "verify", "--in", "golden", "--server", url)
            assert (code, out) == (3, "")
            assert "took longer than 0.001 s" in err
        with urlopen(f"{url}/v1/runs", timeout=60) as answer:
            late = [(run["status"], run["exit_code"], run["error"]["type"]) for run in json.load(answer)]
    assert late == [("failed", 3, "TaskTimeout")] * 2


def test_verify_and_decode(
    url: str, kafka: EmbeddedKafka, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    uri = f"kafka://{kafka.bootstrap}/decoded?protocol=canal-json"
    assert _output(capsys, "run", script, "--sink-uri", uri, "--no-verify")[0] == 0
    for options in (
        ["--scenario", script],
        ["--scenario", script, "--json"],
        ["--scenario", script, "-q"],
        [],
    ):
        wanted = _output(capsys, "verify", "--sink-uri", uri, *options)
        remote = _output(capsys, "verify", "--sink-uri", uri, *options, "--server", url)
        assert remote[:2] == wanted[:2]
    Path(script).write_text(SQL + "DELETE FROM t;")
    wrong = ["verify", "--sink-uri", uri, "--scenario", script]
    assert _output(capsys, *wrong, "--server", url)[:2] == (1, _output(capsys, *wrong)[1])
    for form in ("text", "jsonl"):
        wanted = _output(capsys, "decode", "--sink-uri", uri, "--format", form)
        assert _output(capsys, "decode", "--sink-uri", uri, "--format", form, "--server", url) == wanted


def test_errors_are_those_of_the_local_command(
    url: str, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(script).write_text("INSERT INTO nope VALUES (1)")
    for options in ([], ["--seed", "-1"], ["--sink-uri", "kafka:///t?protocol=nope"], ["--inject", "nope"]):
        wanted = _output(capsys, "run", script, *options)
        remote = _output(capsys, "run", script, *options, "--server", url)
        assert remote[0] == wanted[0] == 2
        if "--seed" not in options:
            assert wanted[2].splitlines()[-1] in remote[2]
    assert "cannot read the file" in _output(capsys, "run", "nope.sql", "--server", url)[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "seed_t1", "--keep"], "--keep cannot be combined with --server"),
        (["run", "seed_t1", "--rate", "5/s"], "--rate cannot be combined with --server"),
        (["run", "seed_t1", "-X", "a=b"], "-X cannot be combined with --server"),
        (["run", "seed_t1", "--engine", "spark"], "--engine cannot be combined with --server"),
        (["verify", "--in", ".", "--engine", "local"], "--engine cannot be combined with --server"),
        (["run", "seed_t1", "--watch"], "--watch requires a scenario file"),
        (["run", "client.sql", "--dry-run", "--html", "x.html"], "a report requires a verified run"),
        (["run", "client.sql", "--html", "nope/x.html"], "the folder of the report does not exist"),
        (["run", "seed_t1", "--xyzzy"], "No such option: --xyzzy (ticdc-producer run --help)"),
        (["verify"], "give exactly one source"),
        (["verify", "--in", "nope"], "nope: cannot be read"),
        (["decode", "nope.jsonl"], "nope.jsonl: cannot be read"),
        (["decode", "client.sql"], "client.sql:1: this line is not a message"),
    ],
)
def test_options_that_are_wrong(
    url: str, script: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = _output(capsys, *arguments, "--server", url)
    assert (code, out) == (2, "")
    assert message in err
    assert sorted(Path().iterdir()) == [Path(script)]


def test_files_and_folders_of_the_client(
    url: str, script: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Path(script).rename("sent.sql").name
    written = ["--out", "golden", "--html", "page.html", "--junit-xml", "junit.xml"]
    assert _output(capsys, "run", script, *written, "--server", url)[0] == 0
    assert "sent" in Path("page.html").read_text()
    assert "<testsuite" in Path("junit.xml").read_text()
    for command in (
        ["verify", "--in", "golden"],
        ["decode", "--in", "golden"],
        ["decode", "golden/messages.jsonl"],
    ):
        wanted = _output(capsys, *command)
        assert _output(capsys, *command, "--server", url)[:2] == wanted[:2]
        assert wanted[0] == 0
    lines = Path("golden/messages.jsonl").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert _output(capsys, "decode", "-", "--server", url)[:2] == wanted[:2]
    Path("golden/messages.jsonl").write_bytes(lines[: len(lines) // 2])
    for command in (["verify", "--in", "golden"], ["decode", "golden/messages.jsonl"]):
        wanted = _output(capsys, *command)
        assert wanted[0] == 2
        remote = _output(capsys, *command, "--server", url)
        assert (remote[0], remote[2].splitlines()[-1]) == (2, wanted[2].splitlines()[-1])


def test_a_watched_file_runs_again_when_it_is_saved(
    url: str, script: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Path(script).rename("watched.sql").name
    texts = [f"{SQL}UPDATE t SET v = 11 WHERE id = 1;\n", "INSERT INTO nope VALUES (1)", SQL]

    editor = Editor(Path(script), texts)
    monkeypatch.setattr("sys.stderr", editor)
    code, out, _ = _output(capsys, "run", script, "--watch", "--server", url)
    err = editor.getvalue()
    assert code == 130
    assert '  + {"id": "1", "v": "11"}' in out
    assert '  - {"id": "1", "v": "11"}' in out
    assert out.count("ran watched into") == 1
    assert out.splitlines()[-1] == "verified"
    assert "Table 'test.nope' doesn't exist" in err
    assert err.count("waiting for a file to be saved") == 4


@pytest.mark.parametrize("url", ["", "127.0.0.1:8642", "file:///etc", "http://user@127.0.0.1", "ftp://x"])
def test_what_is_no_service(capsys: pytest.CaptureFixture[str], url: str) -> None:
    assert main(["run", "seed_t1", f"--server={url}"]) == 2
    assert "is not the URL of a service" in capsys.readouterr().err


def test_a_service_that_does_not_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "seed_t1", "--server", "http://127.0.0.1:1"]) == 3
    assert "no service answers at http://127.0.0.1:1" in capsys.readouterr().err


@contextmanager
def _answering(*answers: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers requests with these bytes, and the requests."""
    received: list[bytes] = []

    def serve(listener: socket.socket) -> None:
        for answer in answers:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as request:
                head = b"".join(iter(request.readline, b"\r\n"))
                size = int(re.findall(rb"Content-Length: (\d+)", head)[0])
                received.append(head + request.read(size))
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=[listener], daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", received
    thread.join(10)


def _answer(*frames: bytes, content_type: str = CONTENT_TYPE, status: int = 200) -> bytes:
    head = f"HTTP/1.1 {status} OK\r\nContent-Type: {content_type}\r\n\r\n"
    return head.encode() + b"".join(frames)


@pytest.mark.parametrize(
    "command",
    [
        ["run", "client.sql"],
        ["verify", "--sink-uri", "kafka:///t"],
        ["decode", "--sink-uri", "kafka:///t"],
    ],
)
def test_the_client_loads_next_to_nothing(script: str, command: list[str]) -> None:
    """Each module would cost as much as the whole request; `re` and `json` alone half a start of Python."""
    reads = frame("read", script) if script in command else b""
    answers = [_answer(reads), _answer(frame("step", "x"), frame("out", "verified\n"), frame("exit", "0"))]
    with _answering(*answers[0 if reads else 1 :]) as (url, _):
        code = (
            "import os, sys; before = set(sys.modules); from ticdc_producer.cli import main; "
            f"main({[*command, '--server', url]!r}); "
            "loaded = {*sys.modules} - before; print(*(one for one in loaded if 'ticdc_producer' not in one))"
        )
        source = Path(ticdc_producer.__file__).parents[1]
        done = subprocess.run(
            [sys.executable, "-S", "-c", code],  # -S: the modules of .pth files are not the client's
            env={**os.environ, "PYTHONPATH": str(source)},
            capture_output=True,
            text=True,
            check=True,
        )
    verdict, loaded = done.stdout.splitlines()
    assert verdict == "verified"
    assert set(loaded.split()) == {"__future__", "_socket"}


@pytest.mark.parametrize(
    ("requested", "what"),
    [
        (frame("read", "/etc/hostname"), "a file that was not named: '/etc/hostname'"),
        (frame("file", "other.txt", "", b"x"), "a path that no option for results names: 'other.txt'"),
        (
            frame("file", "client.sql", "", b"x"),
            "a path that no option for results names: 'client.sql'",
        ),
        (frame("file", "golden", "../x.txt", b"x"), "a file that was not named: 'golden/../x.txt'"),
        (frame("file", "golden", "/x.txt", b"x"), "a file that was not named: 'golden//x.txt'"),
        (frame("folder", "..", b""), "a path that no option for results names: '..'"),
        (b"nonsense", "no service answers"),
        (frame("out", "long")[:-1], "no service answers"),
        (b"", "the service asks for files again"),
    ],
)
def test_a_service_reaches_no_file_that_the_command_line_does_not_name(
    script: str, capsys: pytest.CaptureFixture[str], requested: bytes, what: str
) -> None:
    answers = [_answer(requested)] * (1 if requested else 2)
    with _answering(*answers) as (url, received):
        assert main(["run", script, "--out", "golden", "--server", url]) == 3
        assert what in capsys.readouterr().err
        assert b"CREATE TABLE" not in b"".join(received)
    assert sorted(Path().iterdir()) == [Path(script)]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (_answer(b"<html>", content_type="text/html", status=502), "the service answers with status 502"),
        (
            _answer(
                b'{"error": {"what": "the token is wrong", "where": "", "hint": "set it"}}',
                content_type="application/json",
                status=401,
            ),
            "ticdc-producer: the token is wrong (set it)",
        ),
        (b"nonsense", "no service answers"),
    ],
)
def test_answers_of_others(capsys: pytest.CaptureFixture[str], answer: bytes, message: str) -> None:
    with _answering(answer) as (url, _):
        assert main(["run", "seed_t1", "--server", url]) in (2, 3)
    assert message in capsys.readouterr().err


def test_the_token_is_sent(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TICDC_PRODUCER_TOKEN", "0123456789abcdef")
    with _answering(_answer(frame("exit", "1"))) as (url, received):
        assert main(["run", "seed_t1", "--server", url]) == 1
    assert b"Authorization: Bearer 0123456789abcdef\r\n" in received[0]


def _client(url: str, stdout: int, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose work the service at a URL does, as a process."""
    return subprocess.run(
        [sys.executable, "-m", "ticdc_producer", "run", "seed_t1", "--server", url],
        stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_a_reader_that_goes_away_does_not_change_the_exit_code(code: int, size: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    outputs = [frame("out", "x" * size), frame("out", "x"), frame("err", "to stderr\n")]
    with _answering(_answer(*outputs, frame("exit", str(code)))) as (url, _):
        done = _client(url, writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (code, "to stderr\n")


def test_output_that_cannot_be_written_is_one_line() -> None:
    answer = _answer(frame("out", "x"), frame("exit", "0"))
    with Path("/dev/full").open("wb") as full, _answering(answer) as (url, _):
        done = _client(url, full.fileno())
    assert done.returncode == 3
    assert done.stderr.startswith("ticdc-producer: the output cannot be written: No space left on device")
    assert done.stderr.count("\n") == 1


def test_a_terminal_without_utf8_gets_escapes(tmp_path: Path) -> None:
    output = tmp_path / "output"
    with output.open("wb") as file, _answering(_answer(frame("out", "é日"), frame("exit", "0"))) as (url, _):
        assert _client(url, file.fileno(), PYTHONIOENCODING="ascii").returncode == 0
    assert output.read_bytes() == b"\\u00e9\\u65e5"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_frames_are_read_however_they_are_divided(size: int) -> None:
    sent = frame("out", "é\n1 2\n") + frame("exit", "0") + frame("file", "a b", "c", bytes(range(256)))
    frames = [*read_frames(sent[start : start + size] for start in range(0, len(sent), size))]
    assert [name for name, _ in frames] == ["out", "exit", "file"]
    assert parts_of(frames[2][1], 3) == [b"a b", b"c", bytes(range(256))]


def test_a_folder_that_is_too_large_is_not_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Limits().body_bytes == MOST_BYTES
    (tmp_path / "messages.jsonl").write_bytes(b" " * MOST_BYTES)
    with _answering(_answer(frame("read", str(tmp_path)))) as (url, received):
        assert main(["verify", "--in", str(tmp_path), "--server", url]) == 2
    assert "have 4.0 MiB, a service takes 4 MiB" in capsys.readouterr().err
    assert len(received) == 1
