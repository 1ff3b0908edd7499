"""No output contains a secret of a URI: terminal, reports, folders, errors, processes, Spark's event log."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from traceback import format_exception
from urllib.parse import quote

import psutil
import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from ticdc_producer.cli import main
from ticdc_producer.errors import FolderError
from ticdc_producer.kafka.embedded.process import free_ports

SECRET = "s3cret-of-ann"
REGISTRY = f"mock://ann:{SECRET}@registry"
PROPERTY = ["-X", f"ssl.key.password={SECRET}"]
SASL = f"sasl-mechanism=plain&sasl-user=ann&sasl-password={SECRET}"


def _outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str], log: pytest.LogCaptureFixture) -> str:
    """Everything that a command printed, logged and wrote."""
    printed = capsys.readouterr()
    files = [path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    names = [str(path) for path in tmp_path.rglob("*")]
    return "\n".join([printed.out, printed.err, log.text, *names, *files])


def _command_lines() -> str:
    """The command lines of the processes that this one has started."""
    lines = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has ended
            lines.append(" ".join(process.cmdline()))
    return "\n".join(lines)


@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=pytest.mark.slow)])
def test_reports_folders_and_processes(
    engine: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    spark: SparkSession,
) -> None:
    assert spark
    caplog.set_level(logging.DEBUG)
    scenario = tmp_path / "scenario.yaml"
    uri = f"kafka:///secrets_{engine}?protocol=avro&schema-registry={quote(REGISTRY)}"
    steps = [{"sql": "CREATE DATABASE s; CREATE TABLE s.t (id INT PRIMARY KEY); INSERT INTO s.t VALUES (1);"}]
    scenario.write_text(json.dumps({"version": 1, "changefeed": {"sink-uri": uri}, "steps": steps}))
    reports = ["--json", "--junit-xml", str(tmp_path / "run.xml"), "--html", str(tmp_path / "run.html")]
    golden = ["--out", str(tmp_path / "golden")]
    assert main(["run", str(scenario), "--engine", engine, *PROPERTY, *golden, *reports]) == 0
    processes = _command_lines()
    scenario.unlink()
    assert SECRET not in _outputs(tmp_path, capsys, caplog)
    assert SECRET not in processes


FAILING = {
    "a registry that does not answer": [
        "run", "seed_t1", "--sink-uri",
        f"kafka:///t?protocol=avro&schema-registry=http://ann:{SECRET}@127.0.0.1:PORT",
    ],
    "brokers that do not answer": [
        "run", "seed_t1", "--sink-uri", f"kafka://127.0.0.1:PORT/t?{SASL}",
        "-X", "socket.connection.setup.timeout.ms=1000",
    ],
    "no question mark": ["run", "seed_t1", "--sink-uri", f"kafka://127.0.0.1:PORT/t&{SASL}"],
    "a URI that is no option": ["run", "seed_t1", "orders.sql", f"kafka://127.0.0.1:PORT/t?{SASL}"],
    "a URI as scenario": ["run", f"kafka://127.0.0.1:PORT/t?{SASL}"],
    "a URI as folder": ["decode", f"kafka://127.0.0.1:PORT/t?{SASL}"],
    "a user in the address": ["verify", "--sink-uri", f"kafka://ann:{SECRET}@127.0.0.1:PORT/t"],
    "a property without a name": ["run", "seed_t1", "-X", SECRET],
    "brokers of a target that do not answer": [
        "transcode", "--in", "GOLDEN", "--to-sink-uri", f"kafka://127.0.0.1:PORT/t?{SASL}",
        "--to-X", "socket.connection.setup.timeout.ms=1000",
    ],
    "no question mark in the URI of a target": [
        "transcode", "--in", "GOLDEN", "--to-sink-uri", f"kafka://127.0.0.1:PORT/t&{SASL}",
    ],
    "credentials of a storage": ["decode", "--sink-uri", f"s3://b/p?secret-access-key={SECRET}"],
    "a user of a storage": ["decode", "--sink-uri", f"s3://ann:{SECRET}@b/p?protocol=csv"],
    "a key in a claim-check URI": ["run", "seed_t1", "--config", f"s3://b/p?secret-access-key={SECRET}"],
    "a user in a claim-check URI": ["run", "seed_t1", "--config", f"s3://ann:{SECRET}@b/p"],
    "a database that does not answer": [
        "verify", "state", "--expected", "GOLDEN", "--actual", f"mysql://ann:{SECRET}@127.0.0.1:PORT/x",
    ],
    "no database": ["verify", "state", "--expected", "GOLDEN", "--actual", f"mysq://ann:{SECRET}@h:1/x"],
    "a claim-check URI without scheme": ["run", "seed_t1", "--config", f"ann:{SECRET}@b/p"],
    "an encoded user in a claim-check URI": ["run", "seed_t1", "--config", f"s3://ann%3A{SECRET}%40b/p"],
    "an encoded user of a storage": ["decode", "--sink-uri", f"s3://ann%3A{SECRET}%40b/p?protocol=csv"],
    "a password with a slash": ["verify", "--sink-uri", f"kafka://ann:{SECRET}/x@127.0.0.1:PORT/t"],
    "a password with a question mark": ["verify", "--sink-uri", f"kafka://ann:{SECRET}?x@127.0.0.1:PORT/t"],
    "a password after a number": ["verify", "--sink-uri", f"kafka://ann:1?{SECRET}@127.0.0.1:PORT/t"],
    "a password that looks like parameters": ["verify", "--sink-uri", f"kafka://ann:{SECRET}?a=x@h:1/t"],
    "a password with a slash of a storage": ["decode", "--sink-uri", f"s3://ann:{SECRET}/x@b/p?protocol=csv"],
    "no database but a user": ["verify", "state", "--expected", "GOLDEN", "--actual", f"ann:{SECRET}@h/x"],
    "a service without scheme": ["run", "seed_t1", "--server", f"ann:{SECRET}@127.0.0.1:PORT"],
    "a service": ["run", "seed_t1", "--server", f"http://ann:{SECRET}@127.0.0.1:PORT"],
}  # fmt: skip


SLOW = ("a registry that does not answer",)
"""The client tries several times. Fast: ``test_world_faults.py``."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in FAILING]
)
def test_errors(
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    spark: SparkSession,
) -> None:
    assert spark
    caplog.set_level(logging.DEBUG)
    golden, (port,) = tmp_path / "golden", free_ports(1)
    arguments = [text.replace("PORT", str(port)).replace("GOLDEN", str(golden)) for text in FAILING[name]]
    if "GOLDEN" in FAILING[name]:
        assert main(["run", "seed_t1", "--out", str(golden)]) == 0
    if "claim-check" in name:
        handle = f'large-message-handle-option = "claim-check"\nclaim-check-storage-uri = "{arguments.pop()}"'
        config = tmp_path / "changefeed.toml"
        config.write_text(f"[sink.kafka-config.large-message-handle]\n{handle}\n")
        assert main([*arguments, str(config)]) == 2
        config.unlink()
    else:
        assert main(arguments) in (2, 3)
    assert SECRET not in _outputs(tmp_path, capsys, caplog)


PATHS = [
    ["decode", "LOCATION"],
    ["decode", "--in", "LOCATION"],
    ["verify", "--in", "LOCATION"],
    ["verify", "--sink-uri", "kafka:///t", "--messages", "LOCATION"],
    ["verify", "--sink-uri", "kafka:///t", "--scenario", "LOCATION.sql"],
    ["verify", "state", "--expected", "LOCATION", "--actual", "folder"],
    ["coverage", "--in", "LOCATION"],
    ["run", "LOCATION.sql"],
    ["run", "LOCATION.sql", "--watch"],
    ["run", "seed_t1", "--config", "LOCATION"],
    ["run", "seed_t1", "--out", "LOCATION"],
    ["run", "seed_t1", "--html", "LOCATION"],
    ["run", "seed_t1", "--junit-xml", "LOCATION"],
    ["golden", "--out", "LOCATION"],
    ["golden", "diff", "LOCATION", "folder"],
    ["golden", "diff", "folder", "LOCATION"],
    ["scenario", "validate", "LOCATION"],
    ["scenario", "validate", "--json", "LOCATION.sql"],
    ["conformance", "--junit-xml", "LOCATION"],
    ["broker", "start", "--data", "LOCATION"],
    ["record", "--in", "LOCATION", "--out", "x"],
    ["record", "--in", "y", "--out", "LOCATION"],
    ["record", "--sink-uri", "kafka:///t", "--messages", "LOCATION", "--out", "x"],
    ["transcode", "--in", "LOCATION", "--out", "x"],
    ["transcode", "--in", "y", "--out", "LOCATION"],
    ["transcode", "--in", "y", "--out", "x", "--to-config", "LOCATION"],
    ["diff", "kafka:///t", "folder", "--messages-a", "LOCATION"],
    ["diff", "kafka://h:1/t", "folder", "--config-a", "LOCATION"],
    *(["conformance", option, "LOCATION"] for option in ("--failures", "--save", "--replay", "--shrink")),
    ["verify", "--sink-uri", "kafka:///t", "--config", "LOCATION"],
    ["decode", "--sink-uri", "kafka:///t", "--config", "LOCATION"],
]
"""Every option and argument that is the path of a file or folder."""


@pytest.mark.parametrize(
    "location", [f"s3://ann:{SECRET}@b/p", f"https://{SECRET}@h/x", f"s3://ann:a:/{SECRET}@b"]
)
@pytest.mark.parametrize("command", PATHS, ids=" ".join)
def test_a_uri_is_no_path(
    command: list[str],
    location: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([text.replace("LOCATION", location) for text in command]) == 2
    printed = _outputs(tmp_path, capsys, caplog)
    assert SECRET not in printed
    assert "it is a URI, not a file or folder" in printed
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "call",
    [
        lambda location: ticdc_producer.verify(folder=location),
        lambda location: ticdc_producer.run("seed_t1", out=location),
        lambda location: ticdc_producer.run("seed_t1", config=location),
        lambda location: list(ticdc_producer.decode(file=location)),
        lambda location: ticdc_producer.verify_state(location, location),
        lambda location: ticdc_producer.Scenario("x").write(f"{location}.yaml"),
    ],
)
def test_errors_of_functions(call: Callable[[str], object]) -> None:
    with pytest.raises(FolderError) as caught:
        call(f"s3://ann:{SECRET}@b/p")
    assert SECRET not in f"{caught.value!r} {vars(caught.value)} {''.join(format_exception(caught.value))}"
