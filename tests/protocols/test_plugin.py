"""A codec of another, installed package: it is found and run, and its errors name it."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.errors import ChangefeedError, PluginError
from ticdc_producer.model.event import ResolvedEvent
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.protocols.registry import detect_protocol

CODEC = """
from dataclasses import dataclass

from msgspec.structs import replace

from ticdc_producer.model.event import ResolvedEvent
from ticdc_producer.model.option_type import IntRange
from ticdc_producer.model.parameter import own_parameter
from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder
from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder
from ticdc_producer.protocols.row_options import CanalJSONOptions
from ticdc_producer.protocols.message_batch import from_messages
from ticdc_producer.protocols.spec import ProtocolSpec, Signature

@dataclass(frozen=True, kw_only=True)
class Options:
    enable_tidb_extension: bool = True
    only_output_updated_columns: bool = False
    acme_level: int = 3

class Encoder(CanalJSONEncoder):
    # Canal-JSON after a byte

    def __init__(self, options):
        super().__init__(CanalJSONOptions(
            enable_tidb_extension=True, only_output_updated_columns=options.only_output_updated_columns
        ))
        self.level = options.acme_level

    def messages(self, rows):
        for batch in super().messages(rows):
            yield from_messages([self._marked(one) for one in batch.messages()])

    def ddl(self, event, table=None, before=None):
        return self._marked(super().ddl(event, table, before))

    def resolved(self, ts):
        return self._marked(super().resolved(ts))

    def _marked(self, message):
        return message and replace(message, value=bytes([self.level]) + message.value)

class Decoder:
    def events(self, key, value):
        return CanalJSONDecoder().events(key, (value or b"")[1:])

class Failing:
    def resolved(self, ts):
        raise ZeroDivisionError("by zero")

    def events(self, key, value):
        yield ResolvedEvent(commit_ts=1)
        raise ZeroDivisionError("by zero")

    def rows(self, messages):
        raise ZeroDivisionError("by zero")

class Strange:
    def events(self, key, value):
        yield 1

    def rows(self, messages):
        yield 1

def spec(name, encoder, decoder, **more):
    return ProtocolSpec(
        name=f"{__name__}-{name}", title="Acme", options=Options, encoder=encoder, decoder=decoder, **more
    )

good = spec(
    "good",
    lambda options, _: Encoder(options),
    lambda options, _: Decoder(),
    parameters=(own_parameter("acme-level", IntRange(1, 9), 3, "The first byte."),),
    ddl_partitions="first",
    signature=Signature(matches=lambda key, value: value[1:2] == b"{", description="a level"),
)
failing = spec(
    "failing", lambda options, _: Failing(), lambda options, _: Failing(),
    batch_decoder=lambda options, _: Failing(),
)
strange = spec(
    "strange", lambda options, _: Encoder(options), lambda options, _: Strange(),
    batch_decoder=lambda options, _: Strange(),
)
refusing = spec("refusing", lambda options, _: options["no such option"], None)
misnamed = spec("good", None, None)
other = "no plugin"
"""
NAMES = ("good", "failing", "refusing", "other", "missing", "strange", "misnamed")


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
    (info / "entry_points.txt").write_text("\n".join(["[ticdc_producer.protocols]", *points, ""]))


def test_a_changefeed_and_the_registry_find_it(installed: str) -> None:
    changefeed = resolve(f"kafka:///t?protocol={installed}-good")
    encoder = registry.encoder(changefeed.protocol, changefeed.codec_options())
    mark = encoder.resolved(9)
    assert mark is not None
    decoder = registry.decoder(changefeed.protocol, {})
    assert list(decoder.events(mark.key, mark.value)) == [ResolvedEvent(commit_ts=9)]
    assert encoder.fidelity.resolved


def test_its_options_are_parameters_of_the_sink_uri(installed: str) -> None:
    uri = f"kafka:///t?protocol={installed}-good&acme-level=4&only-output-updated-columns=true"
    changefeed = resolve(uri)
    options = {"enable_tidb_extension": False, "only_output_updated_columns": True, "acme_level": 4}
    assert changefeed.codec_options() == options
    manifest = json.loads(json.dumps(changefeed.as_manifest()))
    assert manifest["acme-level"] == 4
    assert Changefeed.from_manifest(manifest).codec_options() == options
    mark = registry.encoder(changefeed.protocol, options).resolved(9)
    assert mark is not None
    assert (mark.value or b"")[0] == 4


@pytest.mark.parametrize(
    ("parameter", "what"),
    [
        ("acme-level=12", "a whole number from 1 to 9"),
        ("acme-height=1", "unknown parameter 'acme-height'"),
        ("output-old-value=false", "is not a parameter of a sink URI"),
        ("output-row-id=false", "has no option output-row-id"),
    ],
)
def test_options_that_it_does_not_have_are_rejected(installed: str, parameter: str, what: str) -> None:
    with pytest.raises(ChangefeedError, match=what):
        resolve(f"kafka:///t?protocol={installed}-good&{parameter}")
    with pytest.raises(ChangefeedError, match="has no option"):
        registry.encoder(f"{installed}-good", {"acme_height": 1})


def test_its_parameters_belong_to_it_alone(installed: str) -> None:
    assert resolve(f"kafka:///t?protocol={installed}-good").protocol == f"{installed}-good"
    with pytest.raises(ChangefeedError, match="has no option acme-level"):
        resolve("kafka:///t?protocol=craft&acme-level=4")


def test_its_ddls_are_routed_and_its_messages_are_detected(installed: str) -> None:
    changefeed = resolve(f"kafka:///t?protocol={installed}-good")
    assert not changefeed.ddl_to_all_partitions
    assert not changefeed.batches_rows
    mark = registry.encoder(changefeed.protocol, {}).resolved(9)
    assert mark is not None
    assert detect_protocol(mark.key, mark.value) == f"{installed}-good"


def test_an_unknown_protocol_is_still_rejected(installed: str) -> None:
    with pytest.raises(ChangefeedError, match="protocol"):
        resolve(f"kafka:///t?protocol={installed}-none")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("other", "must be a ProtocolSpec, not str"),
        ("missing", "it fails: AttributeError"),
        ("refusing", "it fails: TypeError"),
        ("misnamed", "its entry point must have the protocol's name"),
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
    rows_decoder = registry.batch_decoder(f"{installed}-failing", {})
    assert rows_decoder is not None
    with pytest.raises(PluginError, match="ZeroDivisionError: by zero"):
        rows_decoder.rows([(None, b"")])
    with pytest.raises(PluginError, match="its decoder must return events, not int"):
        next(registry.decoder(f"{installed}-strange", {}).events(None, b""))
    strange = registry.batch_decoder(f"{installed}-strange", {})
    assert strange is not None
    with pytest.raises(PluginError, match="its batch decoder must return DecodedRows, not int"):
        strange.rows([(None, b"")])


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
    uri = f"kafka:///t?protocol={installed}-good&partition-num=2&acme-level=4"
    done = _command(tmp_path, "run", str(sql), "--sink-uri", uri, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr


def _line(value: bytes) -> bytes:
    import base64

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
