"""Streams that the service was started with, and posted files: windows of them, without their sources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.serve.asgi_client import Answer
from tests.serve.service_app import App, application
from ticdc_producer import api
from ticdc_producer.errors import ArgumentError, ChangefeedError, ProducerError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs.copies.stream_location import StreamLocation
from ticdc_producer.serve.attachments import attachment_configs_of, attachments_of, without_source
from ticdc_producer.serve.settings import Limits, ServeSettings
from ticdc_producer.serve.stream_works import ReadTimeline
from ticdc_producer.testing.topic import Golden

SQL = """CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(20), price DECIMAL(8,2));
INSERT INTO orders VALUES (1, 'lamp', 19.90), (2, 'chair', 80);
UPDATE orders SET price = 75 WHERE id = 2;
UPDATE orders SET id = 4 WHERE id = 1;
"""
URI = "kafka:///orders?protocol=canal-json&enable-tidb-extension=true&partition-num=2"
SECRET = "Geheim-77"
FILE = [("Content-Type", "application/octet-stream")]


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    (folder / "scenario.sql").write_text(SQL, "utf-8")
    api.run(str(folder / "scenario.sql"), sink_uri=URI, out=folder / "golden")
    return folder / "golden"


@pytest.fixture(scope="module")
def app(golden: Path) -> Iterator[App]:
    attached = {
        "golden": str(golden),
        "dump": str(golden / "messages.jsonl"),
        "away": f"kafka://ann:{SECRET}@127.0.0.1:1/orders?protocol=canal-json&sasl-password={SECRET}",
    }
    with application(ServeSettings(attachments=attached, limits=Limits(streams=2))) as started:
        yield started


def opened(app: App, name: str) -> dict[str, Any]:
    answer = app("POST", "/v1/streams", content={"attachment": name})
    assert answer.status == 201, answer.body
    return dict(answer.json)


def posted(app: App, text: bytes, query: str = "") -> Answer:
    return app("POST", f"/v1/posted-streams?name=dump.json{query}", content=text, headers=FILE)


def read(app: App, stream: dict[str, Any], path: str) -> Any:
    answer = app("GET", f"/v1/streams/{stream['id']}/{path}")
    assert answer.status == 200, answer.body
    return answer.json


def test_names_alone_are_listed(app: App, golden: Path) -> None:
    answer = app("GET", "/v1/attachments")
    assert [entry["name"] for entry in answer.json] == ["golden", "dump", "away"]
    assert SECRET not in answer.body.decode()
    assert str(golden) not in answer.body.decode()


@pytest.mark.parametrize("name", ["golden", "dump"])
def test_the_views_of_a_stream_are_those_of_its_messages(app: App, golden: Path, name: str) -> None:
    stream, records = opened(app, name), Golden(golden).records
    assert (stream["protocol"], stream["total"]) == ("canal-json", len(records))
    messages = read(app, stream, "messages")["messages"]
    position = ("topic", "partition", "offset")
    assert [[message[part] for part in position] for message in messages] == [
        [record.topic, record.partition, record.offset] for record in records
    ]
    record = next(record for record in records if b'"UPDATE"' in (record.value or b""))
    where = f"topic={record.topic}&partition={record.partition}&offset={record.offset}"
    message = read(app, stream, f"message?{where}")
    assert message["value"]["text"].encode() == record.value
    (event,) = message["events"]
    assert (event["before"]["price"], event["after"]["price"]) == ("80.00", "75.00")
    assert {span["column"] for span in message["spans"]} == {"id", "item", "price"}
    history = read(app, stream, f"row?row={quote(event['rows'][0])}")["changes"]
    assert [change["event"]["op"] for change in history] == ["insert", "update"]
    tables = [
        read(app, stream, f"tables?at={ts}")["tables"].get("test.orders", {"rows": []})["rows"]
        for ts in stream["times"]
    ]
    assert [sorted(row["id"] for row in rows) for rows in tables][-1] == ["2", "4"]
    assert tables[-1][0] == {"id": "2", "item": "chair", "price": "75.00"}
    charts = read(app, stream, "timeline")["charts"]
    assert [chart["partition"] for chart in charts] == [0, 1]
    assert sum(len(chart["buckets"]) for chart in charts) == len(records)
    verdict = read(app, stream, "verdict")["verdict"]
    assert verdict["ok"], verdict
    compared = {line["name"] for line in verdict["lines"]} >= {"events", "rows"}
    assert compared == (name == "golden"), "a golden folder has expected events and rows"


@pytest.mark.parametrize("name", ["5", '["orders"]', '["\\ud800", "orders", "1"]', '["test", "orders", 1]'])
def test_a_text_that_is_no_name_of_a_row(app: App, name: str) -> None:
    answer = app("GET", f"/v1/streams/{opened(app, 'dump')['id']}/row?row={quote(name)}")
    assert (answer.status, answer.what) == (422, "this is not the name of a row")


def test_the_list_has_the_beginnings_of_values_and_their_lengths(tmp_path: Path) -> None:
    sql = (
        "CREATE TABLE t (id INT PRIMARY KEY, a TEXT, b BLOB, c INT, d INT, e INT);"
        f"INSERT INTO t VALUES (1, '{'x' * 3000}', x'{'ff' * 3000}', 1, 2, 3);"
    )
    (tmp_path / "long.sql").write_text(sql, "utf-8")
    api.run(str(tmp_path / "long.sql"), sink_uri=URI, out=tmp_path / "out")
    with application(ServeSettings(attachments={"long": str(tmp_path / "out")})) as served:
        messages = read(served, opened(served, "long"), "messages")["messages"]
    (image,) = (event["after"] for message in messages for event in message["events"] if "after" in event)
    assert [*image] == ["id", "a", "b", "c"]
    assert image["a"] == {"text": "x" * 60, "length": 3000}
    assert image["b"] == {"b64": "/" * 60, "length": 4000}


def test_the_list_may_leave_out_resolved_events_and_begin_at_an_offset(app: App) -> None:
    stream = opened(app, "dump")
    rows = read(app, stream, "messages?resolved=false")
    assert rows["total"] == sum(part["others"] for part in stream["partitions"]) < stream["total"]
    assert not [message for message in rows["messages"] if message["events"][0]["kind"] == "resolved"]
    of_partition = read(app, stream, "messages?topic=orders&partition=1&offset=1")
    assert {message["partition"] for message in of_partition["messages"]} == {1}
    assert of_partition["total"] == stream["partitions"][1]["messages"]


def kcat(golden: Path) -> bytes:
    lines = [
        {
            "topic": record.topic, "partition": record.partition, "offset": record.offset,
            "key": None if record.key is None else record.key.decode(),
            "payload": (record.value or b"").decode(),
        }
        for record in Golden(golden).records
    ]  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_a_posted_file_is_read_as_an_attached_one(app: App, golden: Path) -> None:
    of_console = b"".join(
        (record.value or b"") + b"\n" for record in Golden(golden).records if record.partition == 1
    )
    for text in (kcat(golden), (golden / "messages.jsonl").read_bytes(), of_console):
        answer = posted(app, text)
        assert answer.status == 201, answer.body
        stream = answer.json
        assert (stream["name"], stream["protocol"]) == ("dump", "canal-json")
        assert stream["total"] == text.count(b"\n")
        assert read(app, stream, "messages")["messages"][0]["events"]
        assert read(app, stream, "verdict")["verdict"]["kinds"]["error"] == 0
        assert read(app, stream, "tables")["tables"]
    assert not [*Path(app.service.streams._folder).glob("received-*")], "the file is removed"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"\x00\x01", "not a message"),
        (
            b'{"topic": "t", "partition": 0, "offset": 0, "key": null, "value": "AAAA"}\n',
            "detectable protocol",
        ),
    ],
)
def test_a_file_of_something_else_is_refused_by_its_name(app: App, text: bytes, what: str) -> None:
    answer = posted(app, text)
    assert answer.status == 422
    assert what in str(answer.json["error"])
    assert "received-" not in answer.body.decode(), "paths of the service are not part of answers"


def test_all_messages_of_a_topic_are_verified_on_request(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    """The newest messages alone are copied; their verdict is that of the topic, or none."""
    (tmp_path / "scenario.sql").write_text(SQL, "utf-8")
    uri = f"kafka://{kafka.bootstrap}/large?{URI.partition('?')[2]}"
    api.run(str(tmp_path / "scenario.sql"), sink_uri=uri)
    settings = ServeSettings(attachments={"large": uri}, limits=Limits(copied_messages=4))
    with application(settings) as served:
        stream = opened(served, "large")
        assert (stream["total"], stream["left"] > 0) == (4, True)
        assert read(served, stream, "verdict")["verdict"] is None
        verdict = read(served, stream, "verdict?whole=true")["verdict"]
    assert verdict["ok"], verdict
    assert sum(verdict["kinds"].values()) == stream["total"] + stream["left"]


def test_a_posted_file_is_bounded_and_no_form_can_send_it(golden: Path) -> None:
    limits = Limits(file_bytes=1000, copied_messages=3)
    with application(ServeSettings(limits=limits)) as small:
        assert posted(small, b"x" * 1001).status == 413
        chunks = small("POST", "/v1/posted-streams", chunks=[b"x" * 600] * 2, headers=FILE)
        assert chunks.status == 413
        form = [("Content-Type", "text/plain")]
        assert small("POST", "/v1/posted-streams", content=b"x", headers=form).status == 415
        assert small("POST", "/v1/runs", content=b"{}", headers=FILE).status == 415
        record = b'{"topic": "t", "partition": 0, "offset": %d, "key": null, "value": null}\n'
        answer = posted(small, b"".join(record % number for number in range(4)))
        assert "more than 3 messages" in str(answer.json)


@pytest.mark.parametrize(
    ("body", "status", "what"),
    [
        ({"attachment": "/etc/passwd"}, 404, "no such stream"),
        ({"attachment": "kafka://127.0.0.1:1/t"}, 404, "no such stream"),
        ({"attachment": "gold"}, 404, "did you mean 'golden'?"),
        ({"attachment": "golden", "sink_uri": "kafka:///t"}, 422, "unknown key 'sink_uri'"),
        ({"attachment": "dump", "protocol": "nothing"}, 422, "is not known"),
    ],
)
def test_a_request_names_a_stream_and_nothing_else(app: App, body: Any, status: int, what: str) -> None:
    answer = app("POST", "/v1/streams", content=body)
    assert answer.status == status, answer.body
    assert what in str(answer.json)


def test_errors_of_a_source_have_its_name_and_no_secret(app: App, golden: Path) -> None:
    answer = app("POST", "/v1/streams", content={"attachment": "away"})
    assert answer.status in (422, 502), answer.body
    assert SECRET not in answer.body.decode()
    (golden / "nothing").mkdir(exist_ok=True)
    attached = {"empty": str(golden / "nothing"), "storage": f"file://{golden}/no-such?protocol=csv"}
    with application(ServeSettings(attachments=attached)) as other:
        for name in attached:
            answer = other("POST", "/v1/streams", content={"attachment": name})
            assert answer.json["error"]["where"] == name
            assert str(golden) not in answer.body.decode()


def test_the_words_of_an_error_stay_although_parts_of_the_source_are_hidden() -> None:
    source = StreamLocation(sink_uri="s3://h/t?protocol=csv", name="orders")
    error = without_source(ChangefeedError("what the host h has at s3://h/t/a", where="t"), source)
    assert (error.what, error.where) == ("what the host orders has at orders/a", "orders")
    posted = without_source(ChangefeedError("a b", where="c"), StreamLocation(name="orders"))
    assert (posted.what, posted.where) == ("a b", "c")


def test_the_oldest_streams_are_closed(app: App) -> None:
    first = opened(app, "dump")
    work = ReadTimeline(stream=app.service.streams.opened(first["id"]))
    for _ in range(2):
        opened(app, "dump")
    answer = app("GET", f"/v1/streams/{first['id']}/messages")
    assert (answer.status, answer.what) == (404, "no such stream is open")
    with pytest.raises(ProducerError, match="no such stream is open"):
        app.service.streams.read(work)  # of a request that came before
    assert len([*Path(app.service.streams._folder).glob("stream-*")]) == 2


def test_a_stream_is_read_with_its_changefeed_file(tmp_path: Path) -> None:
    """Its protocol, its dispatch rule and its claim-check objects are in the file alone."""
    claims = tmp_path / "golden" / "claims"
    (tmp_path / "large.sql").write_text(
        "CREATE TABLE t (id INT PRIMARY KEY, v TEXT);"
        f"INSERT INTO t VALUES (1, '{'x' * 3000}'), (2, 'y'), (3, 'z');",
        "utf-8",
    )
    (tmp_path / "changefeed.toml").write_text(
        f"""[sink]
protocol = "canal-json"
dispatchers = [{{matcher = ["test.*"], partition = "table"}}]
[sink.kafka-config]
max-message-bytes = 2000
[sink.kafka-config.codec-config]
enable-tidb-extension = true
[sink.kafka-config.large-message-handle]
large-message-handle-option = "claim-check"
claim-check-storage-uri = "file://{claims}"
""",
        "utf-8",
    )
    uri = "kafka:///t?partition-num=2"
    config = tmp_path / "changefeed.toml"
    api.run(str(tmp_path / "large.sql"), sink_uri=uri, config=config, out=tmp_path / "golden")
    assert [*claims.iterdir()]
    attached = {"large": str(tmp_path / "golden" / "messages.jsonl")}
    configs = attachment_configs_of([f"large={config}"], attached)
    settings = ServeSettings(attachments=attached, attachment_configs=configs)
    with application(settings) as served:
        stream = opened(served, "large")
        rows = read(served, stream, "tables")["tables"]["test.t"]["rows"]
        verdict = read(served, stream, "verdict")["verdict"]
        config.write_text("[sink]\nprotocol = 'other'\n", "utf-8")
        broken = served("POST", "/v1/streams", content={"attachment": "large"})
    assert [row["v"] for row in rows] == [{"text": "x" * 2000, "length": 3000}, "y", "z"]
    assert verdict["ok"], verdict
    assert "INV-ROW-PARTITION" in verdict["checked"]
    assert (broken.status, str(tmp_path) in broken.body.decode()) == (422, False), broken.body


def test_the_rows_after_a_ddl_and_a_message_without_them_are_not_known(tmp_path: Path) -> None:
    (tmp_path / "s.sql").write_text(
        "CREATE TABLE t (id INT PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b');"
        f"ALTER TABLE t ADD COLUMN w INT DEFAULT 5; UPDATE t SET v = '{'x' * 3000}' WHERE id = 1;",
        "utf-8",
    )
    config = tmp_path / "changefeed.toml"
    config.write_text(
        """[sink]
protocol = "canal-json"
[sink.kafka-config]
max-message-bytes = 2000
[sink.kafka-config.codec-config]
enable-tidb-extension = true
[sink.kafka-config.large-message-handle]
large-message-handle-option = "handle-key-only"
""",
        "utf-8",
    )
    api.run(str(tmp_path / "s.sql"), sink_uri="kafka:///t", config=config, out=tmp_path / "out")
    attached = {"large": str(tmp_path / "out" / "messages.jsonl")}
    configs = attachment_configs_of([f"large={config}"], attached)
    with application(ServeSettings(attachments=attached, attachment_configs=configs)) as served:
        tables = read(served, opened(served, "large"), "tables")["tables"]
    assert "handle key" in tables["test.t"]["error"], tables


def test_a_changefeed_file_that_breaks_is_not_named(tmp_path: Path) -> None:
    config = tmp_path / "changefeed.toml"
    config.write_text("[sink]\nprotocol = 'csv'\n", "utf-8")
    (tmp_path / "data").mkdir()
    attached = {"storage": f"file://{tmp_path}/data"}
    settings = ServeSettings(
        attachments=attached,
        attachment_configs=attachment_configs_of([f"storage={config}"], attached),
    )
    with application(settings) as served:
        config.write_text("[sink\n", "utf-8")
        broken = served("POST", "/v1/streams", content={"attachment": "storage"})
    assert (broken.status, "changefeed.toml" in broken.body.decode()) == (422, False), broken.body


@pytest.mark.parametrize(
    "values",
    [
        ["orders"],
        ["=x"],
        ["a b=x"],
        ["a=kafka://h:1/t", "a=kafka://h:1/u"],
        ["a=/no/such"],
        [f"a={'x' * 300}"],
        ["a=kafka://["],
        ["a=other://h/t"],
        ["a=kafka://h:1/t?protocol=other"],
    ],
)
def test_what_cannot_be_attached(values: list[str]) -> None:
    with pytest.raises(ArgumentError):
        attachments_of(values)


@pytest.mark.parametrize(
    "values",
    [
        ["dump"],
        ["other=changefeed.toml"],
        ["dump=no-such.toml"],
        ["dump=changefeed.toml", "dump=changefeed.toml"],
        ["dump=invalid.toml"],
        ["golden=changefeed.toml"],
    ],
)
def test_what_no_changefeed_file_of_a_stream_is(
    values: list[str], golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "changefeed.toml").write_text("[sink]\nprotocol = 'csv'\n", "utf-8")
    (tmp_path / "invalid.toml").write_text("[sink]\nprotocl = 'csv'\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    sources = {"dump": str(golden / "messages.jsonl"), "golden": str(golden)}
    with pytest.raises(ArgumentError):
        attachment_configs_of(values, sources)
    assert attachment_configs_of(["dump=changefeed.toml"], sources) == {
        "dump": str(tmp_path / "changefeed.toml")
    }


def test_a_setting_with_sources_prints_none_of_them() -> None:
    assert SECRET not in repr(ServeSettings(attachments={"a": f"kafka://h/t?sasl-password={SECRET}"}))
