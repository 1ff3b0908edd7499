"""A codec of another, installed package: it is found and run, and its errors name it."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ticdc_producer.config import resolve
from ticdc_producer.errors import ChangefeedError, PluginError
from ticdc_producer.model.event import ResolvedEvent
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.base import Encoder

CODEC = """
from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder
from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder
from ticdc_producer.protocols.canal_json.options import CanalJSONOptions
from ticdc_producer.protocols.plugin import CodecPlugin
from ticdc_producer.model.event import ResolvedEvent

class Failing:
    def resolved(self, ts):
        raise ZeroDivisionError("by zero")

    def events(self, key, value):
        yield ResolvedEvent(commit_ts=1)
        raise ZeroDivisionError("by zero")

class Strange:
    def events(self, key, value):
        yield 1

def extended(options):
    return CanalJSONEncoder(CanalJSONOptions(enable_tidb_extension=True))

good = CodecPlugin(encoder=extended, decoder=lambda options: CanalJSONDecoder())
failing = CodecPlugin(encoder=lambda options: Failing(), decoder=lambda options: Failing())
strange = CodecPlugin(encoder=extended, decoder=lambda options: Strange())
refusing = CodecPlugin(encoder=lambda options: options["no such option"], decoder=None)
other = "no plugin"
"""
NAMES = ("good", "failing", "refusing", "other", "missing", "strange")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """The prefix of the package's protocol names, unique to each test."""
    module = f"acme_{abs(hash(request.node.nodeid)) % 10**8}"
    (tmp_path / f"{module}.py").write_text(CODEC)
    _install(tmp_path, module)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    return module


def _install(folder: Path, module: str, package: str = "acme-codec") -> None:
    info = folder / f"{package.replace('-', '_')}-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
    points = [f"{module}-{name} = {module}:{name}" for name in NAMES]
    (info / "entry_points.txt").write_text("\n".join(["[ticdc_producer.codecs]", *points, ""]))


def test_a_changefeed_and_the_registry_find_it(installed: str) -> None:
    changefeed = resolve(f"kafka:///t?protocol={installed}-good")
    encoder, decoder = registry.encoder(changefeed.protocol, {}), registry.decoder(changefeed.protocol, {})
    mark = encoder.resolved(9)
    assert mark is not None
    assert list(decoder.events(mark.key, mark.value)) == [ResolvedEvent(commit_ts=9)]
    assert encoder.fidelity.resolved


def test_an_unknown_protocol_is_still_rejected(installed: str) -> None:
    with pytest.raises(ChangefeedError, match="protocol"):
        resolve(f"kafka:///t?protocol={installed}-none")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("other", "must be a CodecPlugin, not str"),
        ("missing", "it fails: AttributeError"),
        ("refusing", "it fails: KeyError: 'no such option'"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_named(installed: str, name: str, what: str) -> None:
    with pytest.raises(PluginError, match=what) as error:
        registry.encoder(f"{installed}-{name}", {})
    assert error.value.package == "acme-codec 1.5"
    assert f"codec {installed}-{name} of acme-codec 1.5" in str(error.value)


def test_errors_in_a_plugin_are_plugin_errors(installed: str) -> None:
    encoder: Encoder = registry.encoder(f"{installed}-failing", {})
    with pytest.raises(PluginError, match="ZeroDivisionError: by zero"):
        encoder.resolved(9)
    events = registry.decoder(f"{installed}-failing", {}).events(None, b"")
    assert next(events) == ResolvedEvent(commit_ts=1)
    with pytest.raises(PluginError, match="ZeroDivisionError: by zero"):
        next(events)
    with pytest.raises(PluginError, match="its decoder must return events, not int"):
        next(registry.decoder(f"{installed}-strange", {}).events(None, b""))


def test_two_packages_with_one_protocol_name_are_rejected(installed: str, tmp_path: Path) -> None:
    _install(tmp_path, installed, "ajax-codec")
    importlib.invalidate_caches()
    with pytest.raises(PluginError, match="several packages"):
        registry.encoder(f"{installed}-good", {})


def test_the_command_line_accepts_a_plugin(installed: str, tmp_path: Path) -> None:
    """Also without Spark: a file with one message."""
    value = registry.encoder(f"{installed}-good", {}).resolved(9)
    assert value is not None
    line = tmp_path / "messages.jsonl"
    line.write_bytes(_line(value.value or b""))
    done = _command(tmp_path, "decode", str(line), "--protocol", f"{installed}-good", "--format", "jsonl")
    assert done.returncode == 0, done.stderr
    assert '"commit_ts":9' in done.stdout.replace(" ", "")
    failed = _command(tmp_path, "decode", str(line), "--protocol", f"{installed}-failing")
    assert failed.returncode == 2
    assert "acme-codec 1.5" in failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.mark.slow
def test_a_run_with_a_plugin_is_verified(installed: str, tmp_path: Path) -> None:
    sql = tmp_path / "one.sql"
    sql.write_text("CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\n")
    uri = f"kafka:///t?protocol={installed}-good&partition-num=1"
    done = _command(tmp_path, "run", str(sql), "--sink-uri", uri, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr


def _line(value: bytes) -> bytes:
    import base64
    import json

    text = base64.b64encode(value).decode()
    record = {"topic": "t", "partition": 0, "offset": 0, "type": "resolved", "key": None, "value": text}
    return json.dumps({**record, "timestamp": 0, "headers": []}).encode() + b"\n"


def _command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), str(Path(__file__).parents[2])])
    return subprocess.run(
        [sys.executable, "-m", "ticdc_producer", *words],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
