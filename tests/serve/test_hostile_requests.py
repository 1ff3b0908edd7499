"""Hostile requests: each is a clear 4xx; nothing is read, written or queued."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from tests.serve.asgi_client import Answer
from tests.serve.service_app import App, application
from ticdc_producer.cli.remote.frames import CONTENT_TYPE, frame, read_frames
from ticdc_producer.config import resolve
from ticdc_producer.errors import ArgumentError
from ticdc_producer.serve.settings import Limits, ServeSettings

TOKEN = "0123456789abcdef0123456789abcdef"
SECRET = "a-secret-of-the-server"
TABLE = "CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(99))"
GENERATED = f"""\
version: 1
steps:
  - sql: {TABLE}
  - generate: {{table: t, transactions: 5, mix: {{insert: 1}}, columns: {{c: {{expression: "upper('a')"}}}}}}
"""


def _yaml(changefeed: str = "", steps: str = f'[{{sql: "{TABLE}"}}]') -> dict[str, str]:
    return {"yaml": f"version: 1\nsteps: {steps}\n{changefeed}"}


def _sink(uri: str) -> dict[str, str]:
    return {"scenario": "seed_t1", "sink_uri": uri}


# Not in a fixture: the processes that parse have the environment of the first one, of an earlier test.
os.environ["H_SECRET"] = SECRET


SETTINGS = ServeSettings(limits=Limits(body_bytes=20_000, queued=2, body_seconds=0.05, scenarios=1))


@pytest.fixture
def app() -> Iterator[App]:
    with application(SETTINGS) as served:
        yield served


@pytest.fixture(scope="module")
def idle() -> Iterator[App]:
    """A service for requests that are all refused, and that therefore leave nothing in it."""
    with application(SETTINGS) as served:
        yield served


@pytest.fixture
def pem(tmp_path: Path) -> str:
    path = tmp_path / "ca.pem"
    path.write_text("-----BEGIN CERTIFICATE-----")
    return str(path)


BODIES: list[tuple[str, dict[str, Any], int, str]] = [
    # The environment of the server.
    ("a variable in YAML", _yaml("name: ${H_SECRET}"), 422, "'H_SECRET' is not set"),
    ("escaped in YAML", _yaml('name: "\\x24{H_SECRET}"'), 422, "'H_SECRET' is not set"),
    ("in SQL of YAML", _yaml(steps="[{sql: \"SELECT '${H_SECRET}'\"}]"), 422, "'H_SECRET' is not set"),
    ("in an override", {"sql": TABLE, "overrides": ["name=${H_SECRET}"]}, 422, "'H_SECRET' is not set"),
    ("in a sink URI", _sink("kafka:///t?time-zone=${H_SECRET}"), 422, "'H_SECRET' is not set"),
    # Files of the server.
    ("the path of a scenario", {"scenario": "/etc/passwd"}, 404, "there is no such scenario"),
    ("a path with an ending", {"scenario": "/etc/secret.sql"}, 404, "there is no such scenario"),
    ("a path upwards", {"scenario": "../../x.yaml"}, 404, "there is no such scenario"),
    (
        "a data step",
        _yaml(
            steps=f'[{{sql: "{TABLE}"}}, '
            "{data: {table: t, transactions: 1, format: text, order: n, path: /etc/passwd}}]"
        ),
        403,
        "`data` steps read files and databases",
    ),
    (
        "a data step by override",
        {
            "sql": TABLE,
            "overrides": ["steps[1].data={table: t, transactions: 1, format: csv, order: n, path: x.csv}"],
        },
        403,
        "`data` steps read files and databases",
    ),
    (
        "a changes step",
        _yaml(steps=f'[{{sql: "{TABLE}"}}, {{changes: {{path: /etc/passwd}}}}]'),
        403,
        "`changes` steps read files and databases",
    ),
    (
        "a recording step",
        _yaml(steps="[{recording: /etc}]"),
        403,
        "`recording` steps read files and databases",
    ),
    (
        "a database",
        _yaml(
            steps=f'[{{sql: "{TABLE}"}}, '
            "{data: {table: t, transactions: 1, order: n, format: jdbc, "
            "options: {url: 'jdbc:x', driver: evil.Driver}}}]"
        ),
        403,
        "`data` steps read files and databases",
    ),
    ("a storage", _sink("file:///tmp/h-out?protocol=csv"), 403, "file:// names a storage of the server"),
    ("a bucket", _sink("s3://bucket/x?protocol=csv"), 403, "s3:// names a storage of the server"),
    (
        "a storage of the scenario",
        _yaml("changefeed: {sink-uri: 'file:///tmp/h-out?protocol=csv'}"),
        403,
        "file:// names a storage of the server",
    ),
    (
        "claim-check",
        _yaml(
            "changefeed: {sink: {kafka-config: {large-message-handle: "
            "{large-message-handle-option: claim-check, claim-check-storage-uri: 'file:///tmp/h-claims'}}}}"
        ),
        403,
        "claim-check-storage-uri names a storage",
    ),
    (
        "claim-check of a changefeed file",
        {
            "sql": TABLE,
            "config": "[sink.kafka-config.large-message-handle]\nlarge-message-handle-option='claim-check'\n"
            "claim-check-storage-uri='file:///tmp/h-claims'",
        },
        403,
        "claim-check-storage-uri names a storage",
    ),
    ("a PEM file", _sink("kafka:///t?ca=PEM"), 403, "ca is set where the service is started"),
    ("a PEM file as option", {"sql": TABLE, "options": {"ca": "PEM"}}, 403, "ca is set where"),
    (
        "a PEM file of a changefeed file",
        {"sql": TABLE, "config": "[sink.kafka-config]\nca='PEM'"},
        403,
        "ca is set where",
    ),
    ("a PEM file of YAML", _yaml("changefeed: {sink: {kafka-config: {ca: PEM}}}"), 403, "ca is set where"),
    (
        "a PEM file by override",
        {"sql": TABLE, "overrides": ["changefeed.sink.kafka-config.ca=PEM"]},
        403,
        "ca is set where",
    ),
    # Other machines.
    ("another Kafka", _sink("kafka://10.0.0.1:9092/t"), 403, "a Kafka that is not the service's"),
    ("one of two", _sink("kafka://127.0.0.1:1,10.0.0.1:9092/t"), 403, "a Kafka that is not the service's"),
    (
        "another Kafka of YAML",
        _yaml("changefeed: {sink-uri: 'kafka://10.0.0.1:9092/t'}"),
        403,
        "a Kafka that is not",
    ),
    (
        "another Kafka by override",
        {"scenario": "bank", "overrides": ["changefeed.sink-uri=kafka://10.0.0.1:9092/t"]},
        403,
        "a Kafka that is not",
    ),
    (
        "a schema registry",
        _sink("kafka:///t?protocol=avro&schema-registry=http://10.0.0.1"),
        403,
        "schema-registry is",
    ),
    ("credentials", _sink("kafka:///t?sasl-user=x&sasl-password=y"), 403, "sasl-user is set where"),
    ("a topic of Kafka", {"sql": TABLE, "topic": "__consumer_offsets"}, 403, "are Kafka's own"),
    ("a topic of Kafka in a URI", _sink("kafka:///__consumer_offsets"), 403, "are Kafka's own"),
    # Code.
    ("an expression", {"yaml": GENERATED}, 403, "`expression` is Spark SQL"),
    (
        "an expression by override",
        {
            "scenario": "sysbench",
            "overrides": ["steps[1].generate.columns={pad: {expression: \"reflect('a','b')\"}}"],
        },
        403,
        "`expression` is Spark SQL",
    ),
    (
        "another expression of a shipped scenario",
        {
            "scenario": "message-limit",
            "overrides": ["steps[1].generate.columns.body={expression: \"java_method('a','b')\"}"],
        },
        403,
        "`expression` is Spark SQL",
    ),
    # Forms.
    ("a misspelt key", {"sql": TABLE, "protocl": "avro"}, 422, "unknown key 'protocl'"),
    ("a boolean as text", {"sql": TABLE, "verify": "false"}, 422, "this is true or false, not the text"),
    ("a text as list", {"sql": TABLE, "traps": "duplicate-message"}, 422, "this is a list, not the text"),
    ("an object as scenario", {"scenario": {"name": "bank"}}, 422, "this is a text, not an object"),
    ("no scenario", {}, 422, "exactly one of scenario, sql and yaml"),
    ("two scenarios", {"sql": TABLE, "scenario": "bank"}, 422, "exactly one of scenario, sql and yaml"),
    (
        "a URI and a part of it",
        {"sql": TABLE, "sink_uri": "kafka:///t", "partitions": 2},
        422,
        "sink_uri cannot be combined with partitions",
    ),
    ("an unknown key", {"sql": TABLE, "command": "id"}, 422, "unknown key 'command'"),
    ("many partitions", {"sql": TABLE, "partitions": 1_000_000}, 422, "the largest value is 100"),
    ("a protocol with parameters", {"sql": TABLE, "protocol": "avro&ca=PEM"}, 422, "there is no protocol"),
    ("a topic with a query", {"sql": TABLE, "topic": "t?ca=PEM"}, 422, "is not a topic name"),
    ("a topic with a path", {"sql": TABLE, "topic": "../t"}, 422, "is not a topic name"),
    ("an unknown trap", {"sql": TABLE, "traps": ["nope"]}, 422, "nope"),
    ("a bomb of aliases", _yaml("x: &a [*a, *a]"), 422, "aliases are not supported"),
    ("a tag of Python", _yaml('name: !!python/object/apply:os.system ["id"]'), 422, ""),
    ("half a character", {"sql": "SELECT '\ud800'"}, 422, "unable to parse raw data as a unicode string"),
    ("a long name", {"scenario": "x" * 400}, 422, "it may have 300 characters"),
    ("a number for a text", {"sql": 5}, 422, "this is a text, not 5"),
]


@pytest.mark.parametrize(
    ("body", "status", "what"), [case[1:] for case in BODIES], ids=[case[0] for case in BODIES]
)
def test_a_run_that_is_refused(
    idle: App, pem: str, tmp_path: Path, body: dict[str, Any], status: int, what: str
) -> None:
    before = sorted(tmp_path.iterdir())
    content = _with_pem(body, pem)
    answer = idle("POST", "/v1/runs", content=content)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/json")
    assert what in answer.what
    assert SECRET not in answer.body.decode()
    assert "BEGIN" not in answer.body.decode()
    assert idle("GET", "/v1/runs").json == []
    assert sorted(tmp_path.iterdir()) == before
    assert not Path("/tmp/h-out").exists()


COMPARISON = "/v1/runs/x/comparison"
_KEYS = b",".join(b'"k%d":1' % number for number in range(300_000))
LARGE: dict[str, tuple[str, bytes, int]] = {
    "many keys": ("/v1/runs", b"{%b}" % _KEYS, 413),
    "many options": ("/v1/runs", b'{"sql":"x","options":{%b}}' % _KEYS, 413),
    "many traps": ("/v1/runs", b'{"sql":"x","traps":[%b1]}' % (b"1," * 2_000_000), 413),
    "many empty lists": ("/v1/verifications", b'{"traps":[%b[]]}' % (b"[]," * 1_300_000), 413),
    "many empty texts": ("/v1/decoded", b"[%b1]" % (b'"",' * 1_300_000), 413),
    "a long number": ("/v1/runs", b'{"seed":%b}' % (b"9" * 4_000_000), 413),
    "long numbers": ("/v1/runs", b'{"traps":[%b1]}' % (b"9" * 4000 + b"," * 900), 413),
    "a long fraction": ("/v1/runs", b'{"seed":0.%b}' % (b"9" * 4_000_000), 413),
    "deep lists": ("/v1/runs", b'{"sql":' + b"[" * 400 + b"]" * 400 + b"}", 413),
    "deep lists without end": (COMPARISON, b"[" * (4 << 20), 413),
    "deep objects": (COMPARISON, b'{"a":' * 800_000, 413),
    "quotes without end": ("/v1/runs", b'"' + b'\\"' * 2_000_000, 422),
    "many keys next to tables": (COMPARISON, b'{"tables":{},%b}' % _KEYS, 422),
    "many tables": (COMPARISON, b'{"tables":{%b}}' % _KEYS, 422),
    "many rows that are numbers": (COMPARISON, b'{"tables":{"a.b":[%b1]}}' % (b"1," * 2_000_000), 422),
    "many empty rows of no run": (COMPARISON, b'{"tables":{"a.b":[%b{}]}}' % (b"{}," * 1_300_000), 404),
}
CPU_SECONDS = 2
"""What docs/serve.md states."""


def _quick(app: App, path: str, body: bytes, **headers: Any) -> Answer:
    gc.collect()
    gc.freeze()  # the objects of earlier tests are not the request's
    before = process_time()
    answer = app("POST", path, content=body, **headers)
    assert process_time() - before < CPU_SECONDS
    return answer


@pytest.fixture
def usual() -> Iterator[App]:
    """A service with the usual limits."""
    with application() as served:
        yield served


@pytest.mark.parametrize(("path", "body", "status"), LARGE.values(), ids=LARGE)
def test_large_json_costs_little_time(usual: App, path: str, body: bytes, status: int) -> None:
    assert len(body) <= Limits().body_bytes
    usual.service.ready.set()
    answer = _quick(usual, path, body)
    assert (answer.status, answer.json["error"]["type"]) == (status, "RefusedRequest")


def test_many_arguments_cost_little_time(usual: App) -> None:
    body = frame("argument", "run") + frame("argument", "--inject=a") * 190_000
    answer = _quick(usual, "/v1/commands", body, headers=[("Content-Type", CONTENT_TYPE)])
    assert answer.status == 413
    assert b"more than 1000 arguments" in answer.body


def test_commas_and_brackets_in_texts_are_no_values(usual: App) -> None:
    """A script of many values, and JSON of a comparison at the limits, are read."""
    rows = ",".join(f"({number}, '[{{\"\\\\')" for number in range(2000))
    body = {"sql": f"CREATE TABLE t (id INT PRIMARY KEY, v TEXT); INSERT INTO t VALUES {rows}"}
    assert usual("POST", "/v1/runs", content=body).status == 202
    nested = b"[" * 90 + b"9" * 1000 + b"]" * 90
    wide = b'{"tables":{"a.b":[%b{"id":%b}]}}' % (b'{"id":1},' * 10_000, nested)
    assert usual("POST", COMPARISON, content=wide).what == "there is no such run"


HINTS: list[tuple[str, Any, str]] = [
    ("/v1/runs", {"sql": TABLE, "protocl": "avro"}, "did you mean 'protocol'?"),
    ("/v1/verifications", {"sink_url": "kafka:///t"}, "did you mean 'sink_uri'?"),
    ("/v1/decoded", {"sinkuri": "kafka:///t", "sink_uri": "kafka:///t"}, "did you mean 'sink_uri'?"),
    ("/v1/runs", {"sql": TABLE, "verify": "false"}, "write false without quotes"),
    ("/v1/runs", {"sql": TABLE, "traps": "replay"}, 'write ["replay"]'),
    ("/v1/runs", {"scenario": {"name": "bank"}}, "the name of a scenario"),
    ("/v1/runs", {"scenario": "orders.sql"}, "send the content of the file as `sql`"),
    ("/v1/runs", {"scenario": "./scenarios/orders.yaml"}, "send the content of the file as `yaml`"),
    ("/v1/runs", {"scenario": "bankk"}, "did you mean 'bank'?"),
    ("/v1/runs/x/comparison", {"tables": [{"id": 1}]}, '"test.orders": [{'),
    ("/v1/runs/x/comparison", {"tables": {"test.t": [[1, "lamp"]]}}, '"test.orders": [{'),
    ("/v1/runs/x/comparison", {"test.t": [{"id": 1}]}, '"test.orders": [{'),
    ("/v1/runs", b"{'sql': 1}", "keys and texts are in double quotes"),
]


@pytest.mark.parametrize(("path", "body", "hint"), HINTS)
def test_an_error_explains_what_to_write(idle: App, path: str, body: Any, hint: str) -> None:
    answer = idle("POST", path, content=body)
    assert answer.status in (404, 422)
    assert hint in answer.json["error"]["hint"]


def test_a_posted_path_is_never_opened(app: App, tmp_path: Path) -> None:
    """Opening a FIFO waits for its writer: a service that opened the path would not answer."""
    fifo = str(tmp_path / "secret.sql")
    os.mkfifo(fifo)
    bodies = [
        {"scenario": fifo},
        {"sql": TABLE, "file": fifo},
        {"sql": TABLE, "overrides": [f"name={fifo}", f"changefeed={fifo}"]},
        {"sql": f"SOURCE {fifo}; LOAD DATA INFILE '{fifo}' INTO TABLE t"},
        {"sql": TABLE, "config": fifo},
        {"sql": TABLE, "sink_uri": f"file://{fifo}?protocol=csv"},
        {"yaml": fifo},
    ]
    for body in bodies:
        assert app("POST", "/v1/runs", content=body).status < 500
    assert app("PUT", f"/v1/scenarios/{fifo}", content=TABLE.encode()).status == 404


def _with_pem(value: Any, pem: str) -> Any:
    if isinstance(value, dict):
        return {name: _with_pem(member, pem) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_pem(member, pem) for member in value]
    return value.replace("PEM", pem) if isinstance(value, str) else value


@pytest.mark.parametrize("path", ["/v1/verifications", "/v1/decoded"])
@pytest.mark.parametrize(
    ("uri", "status"),
    [
        ("kafka://10.0.0.1:9092/t", 403),
        ("file:///etc?protocol=csv", 403),
        ("kafka:///t?ca=/etc/passwd", 403),
        ("kafka:///t?cluster-id=${H_SECRET}", 422),
        ("kafka:///__consumer_offsets", 403),
        ("http://10.0.0.1/", 422),
        ("", 422),
    ],
)
def test_a_topic_that_is_not_read(idle: App, path: str, uri: str, status: int) -> None:
    idle.service.ready.set()
    answer = idle("POST", path, content={"sink_uri": uri})
    assert answer.status == status
    assert SECRET not in answer.body.decode()
    assert idle("GET", "/v1/runs").json == []


def _manifest_with(**keys: str) -> bytes:
    changefeed = {**resolve("kafka://h:9092/t?protocol=canal-json").as_manifest(), **keys}
    return frame("file", "in", "manifest.json", json.dumps({"files": {}, "changefeed": changefeed}))


FOREIGN = "kafka://10.0.0.1:9092/t"
SENT = frame("prepared") + frame("file", "x.sql", "", f"{TABLE};".encode())
COMMANDS: list[tuple[str, list[str], bytes, int, str]] = [
    ("a path of the server", ["run", "/etc/passwd"], b"", 404, "there is no such scenario"),
    ("a file that was not sent", ["run", "/etc/x.sql"], SENT, 422, "cannot read the file: it was not sent"),
    ("a changefeed of the server", ["run", "x.sql", "--config", "/etc/x.toml"], SENT, 422, "it was not sent"),
    ("a folder of the server", ["decode", "--in", "/etc"], SENT, 422, "there is no such folder"),
    ("a file to decode", ["decode", "/etc/passwd"], SENT, 422, "/etc/passwd: there is no such folder"),
    ("stdin of the server", ["decode", "-"], SENT, 422, "there is no such folder"),
    (
        "another Kafka",
        ["run", "x.sql", "--sink-uri", "kafka://10.0.0.1:9092/t"],
        SENT,
        403,
        "is not the",
    ),
    (
        "a storage",
        ["run", "x.sql", "--sink-uri", "file:///tmp/h-out?protocol=csv"],
        SENT,
        403,
        "names a stor",
    ),
    ("client properties", ["run", "x.sql", "-X", "ssl.ca.location=/etc/x"], SENT, 422, "-X cannot be combi"),
    ("a registry", ["run", "x.sql", "--schema-registry", "http://10.0.0.1"], SENT, 422, "cannot be combined"),
    ("a variable", ["run", "x.sql", "--set", "name=${H_SECRET}"], SENT, 422, "'H_SECRET' is not set"),
    (
        "another Kafka to verify",
        ["verify", "--sink-uri", "kafka://10.0.0.1:9092/t"],
        b"",
        403,
        "is not the",
    ),
    (
        "another Kafka to decode",
        ["decode", "--sink-uri", "kafka://10.0.0.1:9092/t"],
        b"",
        403,
        "is not the",
    ),
    ("another command", ["broker", "start"], b"", 422, "the service runs run, verify, decode"),
    ("a service in the service", ["serve"], b"", 422, "the service runs run, verify, decode"),
    ("no command", [], b"", 422, "the service runs run, verify, decode"),
    ("help", ["run", "--help"], b"", 422, "the service runs run, verify, decode"),
    ("a database", ["verify", "state", "--actual", "mysql://10.0.0.1/x"], b"", 422, "--server"),
    ("an unknown option", ["run", "x.sql", "--nope"], SENT, 422, "No such option: --nope"),
    ("a negative seed", ["run", "x.sql", "--seed", "-1"], SENT, 422, "the smallest value is 0"),
]
FOLDERS = [
    (frame("file", "in", "../x", b""), 422, "not a file of a golden folder"),
    (frame("file", "in", "/etc/x", b""), 422, "not a file of a golden folder"),
    (frame("file", "in", "state/../../x", b""), 422, "not a file of a golden folder"),
    (frame("file", "in", "a\\b", b""), 422, "not a file of a golden folder"),
    (frame("file", "in", "", b"") + frame("file", "in", "x", b""), 422, "not a file of a golden folder"),
    (frame("file", "in", "events.parquet", b"PAR1"), 422, "the service reads small folders"),
    (frame("file", "in", "x", b""), 422, "in/manifest.json: the file is missing"),
    (_manifest_with(**{"schema-registry": "http://10.0.0.1:8081"}), 403, "schema-registry is set where"),
    (
        frame("file", "in", "manifest.json", b'{"files": {"../../etc/passwd": "x"}}'),
        422,
        "outside of the fold",
    ),
]


@pytest.mark.parametrize(
    ("arguments", "files", "status", "what"),
    [case[1:] for case in COMMANDS],
    ids=[case[0] for case in COMMANDS],
)
def test_a_command_line_that_is_refused(
    idle: App, arguments: list[str], files: bytes, status: int, what: str
) -> None:
    idle.service.ready.set()
    answer = _command(idle, arguments, files)
    assert answer.status == status
    frames = dict(read_frames([answer.body]))
    assert what in frames["err"].decode()
    assert set(frames) == {"err", "exit"}
    assert SECRET not in answer.body.decode()
    assert idle("GET", "/v1/runs").json == []


@pytest.mark.parametrize(("files", "status", "what"), FOLDERS)
def test_a_posted_folder_that_is_refused(
    idle: App, tmp_path: Path, files: bytes, status: int, what: str
) -> None:
    idle.service.ready.set()
    answer = _command(idle, ["decode", "--in", "in"], frame("prepared") + files)
    assert answer.status == status
    assert what in dict(read_frames([answer.body]))["err"].decode()
    assert str(idle.service.worker._folder) not in answer.body.decode()
    left = [path.name for path in idle.service.worker._folder.rglob("*")]
    assert [name for name in left if not name.startswith("process-")] == []


@pytest.mark.parametrize("body", [b"nonsense", b"argument 9\nrun", b"argument -1\n", b"file 1\nx"])
def test_a_body_without_frames(idle: App, body: bytes) -> None:
    assert _post(idle, body).status == 400


def _command(app: App, arguments: list[str], files: bytes) -> Answer:
    return _post(app, b"".join(frame("argument", argument) for argument in arguments) + files)


def _post(app: App, body: bytes) -> Answer:
    return app("POST", "/v1/commands", content=body, headers=[("Content-Type", CONTENT_TYPE)])


@pytest.mark.parametrize(
    ("host", "headers", "status"),
    [
        ("evil.example", [], 403),
        ("evil.example:8642", [], 403),
        ("127.0.0.1.evil.example", [], 403),
        ("", [], 403),
        ("127.0.0.1:8642", [("Host", "evil.example")], 400),
        ("127.0.0.1:8642", [("Origin", "http://evil.example")], 403),
        ("127.0.0.1:8642", [("Origin", "null")], 403),
        ("127.0.0.1:8642", [("Origin", "http://127.0.0.1:1")], 403),
        ("127.0.0.1:8642", [("Sec-Fetch-Site", "cross-site")], 403),
        ("127.0.0.1:8642", [("Content-Type", "text/plain")], 415),
        ("127.0.0.1:8642", [("Content-Type", "application/x-www-form-urlencoded")], 415),
        ("127.0.0.1:8642", [("Content-Type", "multipart/form-data; boundary=x")], 415),
        ("127.0.0.1:8642", [("Content-Length", "99999999999999999999999")], 413),
        ("127.0.0.1:8642", [("Content-Type", "application/json"), ("Content-Type", "text/plain")], 400),
    ],
)
def test_a_request_of_a_web_page(idle: App, host: str, headers: list[tuple[str, str]], status: int) -> None:
    answer = idle("POST", "/v1/runs", content={"scenario": "seed_t1"}, host=host, headers=headers)
    assert answer.status == status
    assert answer.what
    assert idle("GET", "/v1/runs").json == []


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "localhost:8642", "LOCALHOST", "[::1]:8642"])
def test_names_of_this_machine(app: App, host: str) -> None:
    same = [("Origin", f"http://{host}"), ("Sec-Fetch-Site", "same-origin")]
    assert app("GET", "/health", host=host, headers=same).status == 200


def test_large_and_slow_requests(app: App) -> None:
    large = app("POST", "/v1/runs", content=b" " * 20_001)
    chunked = app(
        "POST", "/v1/runs", chunks=[b" " * 9_000] * 3, headers=[("Content-Type", "application/json")]
    )
    assert [large.status, chunked.status] == [413, 413]
    assert app("POST", "/v1/runs", content=b"[" * 10_000).status == 413


SLOW_YAML = f"version: 1\nsteps: [{'{sql: a},' * 200_000}]: :"
"""The parser needs a minute to say what is wrong with it."""


def test_a_scenario_that_is_slow_to_read() -> None:
    limits = Limits(check_seconds=0.5)
    with application(ServeSettings(limits=limits)) as patient:
        slow = patient("POST", "/v1/runs", content={"yaml": SLOW_YAML})
        assert (slow.status, slow.what) == (422, "reading the request took longer than 0.5 s")
        assert patient("POST", "/v1/runs", content={"sql": TABLE}).status == 202


def test_a_scenario_that_takes_memory_to_read() -> None:
    limits = Limits(memory_bytes=300 << 20, check_seconds=300)
    with application(ServeSettings(limits=limits)) as small:
        large = small("POST", "/v1/runs", content={"yaml": f"x: [{'[],' * 1_000_000}]"})
        assert (large.status, large.what) == (422, "reading the request used more than 300 MiB of memory")
        assert small("POST", "/v1/runs", content={"sql": TABLE}).status == 202


def test_the_queue_is_limited(app: App) -> None:
    answers = [app("POST", "/v1/runs", content={"scenario": "seed_t1"}) for _ in range(3)]
    assert [answer.status for answer in answers] == [202, 202, 429]
    assert answers[2].headers["retry-after"] == "1"
    assert len(app("GET", "/v1/runs").json) == 2


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("..%2f..%2fetc%2fcron.sql", TABLE, 404),
        ("%2e%2e.sql", TABLE, 422),
        (".hidden.sql", TABLE, 422),
        ("orders.txt", TABLE, 422),
        ("a" * 200 + ".sql", TABLE, 422),
        ("orders.yaml", "version: 1\nname: ${H_SECRET}\nsteps: [{sql: SELECT 1}]", 422),
        ("orders.yaml", GENERATED, 403),
        ("orders.sql", "\xff".encode("latin-1"), 422),
    ],
)
def test_an_upload_that_is_refused(idle: App, name: str, text: str | bytes, status: int) -> None:
    body = text if isinstance(text, bytes) else text.encode()
    answer = idle("PUT", f"/v1/scenarios/{name}", content=body, headers=[("Content-Type", "application/sql")])
    assert answer.status == status
    assert {scenario["source"] for scenario in idle("GET", "/v1/scenarios").json} == {"shipped"}


def test_uploads_are_limited(app: App) -> None:
    as_sql = [("Content-Type", "application/sql")]
    names = ("a.sql", "b.sql", "a.sql")
    answers = [app("PUT", f"/v1/scenarios/{name}", content=TABLE.encode(), headers=as_sql) for name in names]
    assert [answer.status for answer in answers] == [204, 409, 204]
    assert app("GET", "/v1/scenarios/a.sql").body.decode() == TABLE
    assert app("DELETE", "/v1/scenarios/a.sql").status == 204
    assert app("DELETE", "/v1/scenarios/a.sql").status == 404


@pytest.mark.parametrize("path", ["/v1/runs/x", "/v1/runs/..%2f..%2fetc", "/v1/runs/x/archive", "/nope"])
def test_what_does_not_exist(idle: App, path: str) -> None:
    assert idle("GET", path).status == 404


def test_a_run_that_has_not_ended_has_no_results(app: App) -> None:
    number = app("POST", "/v1/runs", content={"scenario": "seed_t1"}).json["id"]
    for part in ("report", "verdict", "text", "messages", "decoded", "events", "state", "archive"):
        answer = app("GET", f"/v1/runs/{number}/{part}")
        assert (answer.status, answer.what) == (409, "the run has not ended")
    assert app("DELETE", f"/v1/runs/{number}").status == 204


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ([], 401),
        ([("Authorization", "Bearer ")], 401),
        ([("Authorization", f"Bearer {TOKEN[:-1]}")], 401),
        ([("Authorization", f"Basic {TOKEN}")], 401),
        ([("Authorization", TOKEN)], 401),
        ([("Authorization", "Bearer é")], 401),
        ([("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer x")], 400),
        ([("Authorization", f"Bearer {TOKEN}")], 200),
    ],
)
def test_the_token(authorization: list[tuple[str, str]], status: int) -> None:
    with application(ServeSettings(host="0.0.0.0", token=TOKEN)) as app:
        assert app("GET", "/v1/runs", headers=authorization, host="any.example").status == status
        assert app("GET", "/openapi.json", headers=authorization, host="any.example").status == status
        assert app("GET", "/health", host="any.example").status == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.com"])
def test_an_address_that_others_reach_requires_a_token(host: str) -> None:
    with pytest.raises(ArgumentError, match="requires a token"):
        ServeSettings(host=host)


def test_a_short_token_is_refused() -> None:
    with pytest.raises(ArgumentError, match="fewer than 16 characters"):
        ServeSettings(token="secret")


def test_what_is_configured_is_allowed() -> None:
    settings = ServeSettings(
        permissions=frozenset(["environment", "expression"]), other_kafkas=frozenset(["10.0.0.1:9092"])
    )
    with application(settings) as app:
        allowed = [
            {"yaml": GENERATED},
            _yaml("name: ${H_SECRET}"),
            _sink("kafka://10.0.0.1:9092/t"),
            {"scenario": "message-limit"},
        ]
        assert [app("POST", "/v1/runs", content=body).status for body in allowed] == [202] * 4
    with application() as app:
        assert app("POST", "/v1/runs", content={"scenario": "message-limit"}).status == 202


def test_websockets_are_closed() -> None:
    import asyncio

    with application() as app:
        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        asyncio.run(app.asgi({"type": "websocket", "path": "/"}, None, send))
        assert sent == [{"type": "websocket.close", "code": 1008}]


def test_a_service_leaves_no_folder() -> None:
    with application() as app:
        folder = app.service.worker._folder
        assert str(os.getpid()) in folder.name
    assert not folder.exists()
