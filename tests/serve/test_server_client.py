"""``--server``: what a command sends, and that it prints what the local command prints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ticdc_producer.cli import main
from ticdc_producer.kafka.embedded import EmbeddedKafka

SQL = "CREATE TABLE t (id INT PRIMARY KEY, v INT);\nINSERT INTO t VALUES (1, 10), (2, 20);\n"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("orders.sql").write_text(SQL)
    return "orders.sql"


def _output(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main([*arguments])
    out, err = capsys.readouterr()
    return code, re.sub(r"kafka://\S+?/", "kafka://HOST/", out), err


def test_a_run_prints_what_the_local_command_prints(
    url: str, kafka: EmbeddedKafka, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    local = f"kafka://{kafka.bootstrap}/orders?protocol=open-protocol&partition-num=3"
    assert _output(capsys, "run", script, "--sink-uri", local, "--server", url)[0] == 0
    for options in ([], ["--quiet"], ["--json"]):
        wanted = _output(capsys, "run", script, "--sink-uri", local, "--replace", *options)
        found = _output(capsys, "run", script, "--sink-uri", local, "--replace", "--server", url, *options)
        assert found[:2] == wanted[:2]
        assert set(found[2].splitlines()) >= set(wanted[2].splitlines()) - {"starting Spark"}
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
    assert _output(capsys, "run", script, *options, "--replace")[0] == 0
    monkeypatch.delenv("TICDC_PRODUCER_SERVER")
    assert _output(capsys, "verify", "--in", "golden", "--scenario", script)[0] == 0


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
        found = _output(capsys, "verify", "--sink-uri", uri, *options, "--server", url)
        assert found[:2] == wanted[:2]
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
        found = _output(capsys, "run", script, *options, "--server", url)
        assert found[0] == wanted[0] == 2
        if "--seed" not in options:
            assert wanted[2].splitlines()[-1] in found[2]
    assert "cannot read the file" in _output(capsys, "run", "nope.sql", "--server", url)[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "seed_t1", "--keep"], "--keep cannot be combined with --server"),
        (["run", "seed_t1", "--html", "x.html"], "--html cannot be combined with --server"),
        (["run", "seed_t1", "-X", "a=b"], "-X cannot be combined with --server"),
        (["verify", "--in", "x"], "--in cannot be combined with --server"),
        (["decode", "x.jsonl"], "FILE cannot be combined with --server"),
    ],
)
def test_options_of_the_local_command(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main([*arguments, "--server", "http://127.0.0.1:1"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("url", ["", "127.0.0.1:8642", "file:///etc", "http://user@127.0.0.1", "ftp://x"])
def test_what_is_no_service(capsys: pytest.CaptureFixture[str], url: str) -> None:
    assert main(["run", "seed_t1", f"--server={url}"]) == 2
    assert "is not the URL of a service" in capsys.readouterr().err


def test_a_service_that_does_not_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "seed_t1", "--server", "http://127.0.0.1:1"]) == 3
    assert "no service answers at http://127.0.0.1:1" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [["run", "seed_t1"], ["verify", "--sink-uri", "kafka:///t"], ["decode", "--sink-uri", "kafka:///t"]],
)
def test_the_client_loads_nothing_heavy(command: list[str]) -> None:
    heavy = {"pyspark", "pyarrow", "confluent_kafka", "sqlglot", "rich", "numpy", "fastapi"}
    code = (
        "import json, sys; from ticdc_producer.cli import main; "
        f"main({[*command, '--server', 'http://127.0.0.1:1']!r}); "
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert heavy & set(json.loads(done.stdout)) == set()
