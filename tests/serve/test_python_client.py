"""``ticdc_producer.Client``: a Python program uses a service as the functions of the package."""

from __future__ import annotations

import json
import socket
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from tests.kafka_topic import read_topic
from tests.serve.conftest import served
from ticdc_producer import Client, ProducerError, Scenario
from ticdc_producer.errors import (
    ArgumentError,
    EnvironmentFailure,
    FailedTask,
    RefusedRequest,
    ScenarioError,
)
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.serve.settings import ServeSettings

SQL = "CREATE TABLE t (id INT PRIMARY KEY, v INT);\nINSERT INTO t VALUES (1, 10), (2, 20);\n"
TOKEN = "0123456789-of-the-test"


def scenario_in_python() -> Scenario:
    return Scenario("shop", changefeed={"sink-uri": "kafka:///shop?protocol=canal-json"}).sql(SQL)


@pytest.fixture
def client(url: str) -> Client:
    return Client(url)


def test_a_scenario_is_run_and_its_topic_verified(client: Client, kafka: EmbeddedKafka) -> None:
    run = client.run(scenario_in_python(), topic="client-run", partitions=2)
    assert run.ok
    assert (run.bootstrap, run.topics) == (kafka.bootstrap, ["client-run"])
    assert sum(map(len, read_topic(kafka.bootstrap, "client-run").values())) > 2
    assert run.result()["scenario"] == "shop"
    assert run.result("verdict")["ok"] is True
    assert run.result("state") == {"test.t": [{"id": "1", "v": "10"}, {"id": "2", "v": "20"}]}
    uri = "kafka:///client-run?protocol=canal-json&partition-num=2"
    assert client.verify(uri, scenario_in_python()).ok
    assert not client.verify(uri, scenario_in_python().sql("DELETE FROM t")).ok
    assert run.content["id"] in [task.content["id"] for task in client.tasks()]


@pytest.mark.parametrize("form", ["shipped", "file", "path", "sql", "yaml", "object"])
def test_a_scenario_has_many_forms(client: Client, form: str, tmp_path: Path) -> None:
    (tmp_path / "orders.sql").write_text(SQL)
    arguments: dict[str, tuple[str | Path | Scenario | None, dict[str, str]]] = {
        "shipped": ("seed_t1", {}),
        "file": (str(tmp_path / "orders.sql"), {}),
        "path": (tmp_path / "orders.sql", {}),
        "sql": (None, {"sql": SQL}),
        "yaml": (None, {"yaml": scenario_in_python().to_yaml()}),
        "object": (scenario_in_python(), {}),
    }
    scenario, fields = arguments[form]
    content = client.preview(scenario, **fields)
    previews = content["previews"]
    assert isinstance(previews, list)
    assert [preview["protocol"] for preview in previews] == [
        "canal-json" if form in ("yaml", "object") else "open-protocol"
    ]


def test_the_rows_of_a_consumer_are_compared(client: Client) -> None:
    run = client.run(sql=SQL)
    assert run.compared({"test.t": [{"id": 1, "v": 10}, {"id": 2, "v": 20}]})["ok"] is True
    wrong = run.compared({"test.t": [{"id": 1, "v": 10}]})
    assert wrong["ok"] is False
    assert wrong["differences"]


def test_a_run_that_is_not_waited_for_can_be_cancelled(client: Client) -> None:
    run = client.run(sql=SQL, wait=0)
    assert run.content["status"] in ("queued", "running", "finished")
    run.cancel()
    assert run.content["id"] not in [task.content["id"] for task in client.tasks()]
    with pytest.raises(RefusedRequest) as caught:
        run.cancel()
    assert caught.value.status == 404


def test_a_failed_run_has_the_words_of_the_service(client: Client) -> None:
    with pytest.raises(FailedTask, match=r"a\.sql:3: CREATE TABL is not supported") as caught:
        client.run(sql=f"{SQL}CREATE TABL u;", file="a.sql")
    assert caught.value.error == "UnsupportedSQL"
    assert "docs/sql.md" in caught.value.hint


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"yaml": "version: 1\nsteps: [{sqll: a}]", "file": "a.yaml"}, r"a\.yaml:2: .*sqll"),
        ({"sql": SQL, "protocl": "avro"}, "did you mean 'protocol'"),
        ({"sql": SQL, "yaml": "version: 1"}, "exactly one of scenario, sql and yaml"),
        ({"scenario": "bnak"}, "there is no such scenario .*bank"),
    ],
)
def test_a_refusal_has_the_words_of_the_service(client: Client, fields: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedRequest, match=words) as caught:
        client.run(**fields)
    assert 400 <= caught.value.status < 500


def test_a_scenario_with_a_dataframe_is_refused_before_it_is_sent() -> None:
    frame = pa.table({"n": [0], "op": ["insert"], "id": [1], "v": [1]})
    scenario = Scenario("shop").sql(SQL).changes(frame, table="t", order="n")
    with pytest.raises(
        ScenarioError, match=r"scenario shop has a DataFrame.*run it with ticdc_producer\.run"
    ):
        Client("http://127.0.0.1:1").run(scenario)


def test_a_file_with_an_error_is_named(client: Client, tmp_path: Path) -> None:
    (tmp_path / "wrong.sql").write_text(f"{SQL}\nINSERT INTO nowhere VALUES (1);")
    with pytest.raises(ProducerError, match=r"wrong\.sql:4: "):
        client.run(tmp_path / "wrong.sql")
    with pytest.raises(ScenarioError, match=r"missing\.sql: cannot read the scenario: No such file"):
        client.run(tmp_path / "missing.sql")
    (tmp_path / "bytes.sql").write_bytes(b"SELECT '\xff'")
    with pytest.raises(ScenarioError, match="it is not UTF-8"):
        client.run(tmp_path / "bytes.sql")


def test_the_token_is_sent_and_is_in_no_text(
    kafka: EmbeddedKafka, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("TICDC_PRODUCER_TOKEN", raising=False)
    with served(ServeSettings(kafka=kafka.bootstrap, token=TOKEN)) as url:
        client = Client(url, token=TOKEN)
        assert client.tasks() == []
        with pytest.raises(RefusedRequest, match="the token is missing or wrong"):
            Client(url).tasks()
        with pytest.raises(RefusedRequest) as caught:
            Client(url, token=f"{TOKEN}x").tasks()
        monkeypatch.setenv("TICDC_PRODUCER_TOKEN", TOKEN)
        assert Client(url).tasks() == []
    with pytest.raises(EnvironmentFailure) as gone:
        client.tasks()
    with pytest.raises(ArgumentError) as wrong:
        Client(url, token=f"{TOKEN}\n")
    texts = [repr(client), str(client), caplog.text]
    for error in (caught, gone, wrong):
        texts += ["".join(traceback.format_exception(error.value)), repr(error.value)]
    assert not [text for text in texts if TOKEN in text]


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """A server that gives one answer to each connection, and leaves the connection open."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        connections: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    connection = listener.accept()[0]
                except OSError:
                    return
                connections.append(connection)
                connection.recv(1 << 16)
                connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        for connection in connections:
            connection.close()


OK = b"HTTP/1.1 200 OK\r\nContent-Length: "


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (OK + b"3\r\n\r\nabc", "is not one of ticdc-producer serve"),
        (OK + b"100000\r\n\r\n" + b"[" * 100_000, "is not one of ticdc-producer serve"),
        (OK + b"9\r\n\r\nabc", "no service answers at .*timed out"),
        (b"", "no service answers at .*timed out"),
        (b"nonsense\r\n\r\n", "no service answers at"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 2\r\n\r\n{}", "status 302"),
        (b"HTTP/1.1 502 Bad\r\nContent-Length: 2\r\n\r\n{}", "status 502"),
    ],
)
def test_an_answer_of_something_else_is_an_error(answer: bytes, words: str) -> None:
    with answering(answer) as url, pytest.raises(EnvironmentFailure, match=words):
        Client(url, timeout=0.2).preview("seed_t1")


def test_an_answer_has_a_largest_size() -> None:
    body = json.dumps({"text": "x" * (1 << 20)}).encode()
    answer = OK + b"%d\r\n\r\n%b" % (len(body), body)
    with answering(answer) as url:
        client = Client(url)
        assert client.preview("seed_t1")["text"]
        client.most_bytes = 1 << 20
        with pytest.raises(EnvironmentFailure, match="the answer has more than 1 MiB"):
            client.preview("seed_t1")


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8642", "ftp://127.0.0.1", "http://", "http://name:secret@127.0.0.1", "http://127.0.0.1:0",
        "http://127.0.0.1:70000", "http://127.0.0.1/?a=b", "http://127.0.0.1/#a", "http://127.0.0.1\r\nX: y",
    ],
)  # fmt: skip
def test_a_url_of_another_form_is_refused(url: str) -> None:
    with pytest.raises(ArgumentError, match="not the URL of a service") as caught:
        Client(url)
    assert "secret" not in str(caught.value)


def test_what_is_no_request_is_an_error(client: Client) -> None:
    with pytest.raises(ArgumentError, match="is not JSON"):
        client.run(sql=SQL, partitions=object())
    with pytest.raises(ArgumentError, match=r"the request has 5\.0 MiB, a service takes 4 MiB"):
        client.run(sql="x" * (5 << 20))
    with pytest.raises(ScenarioError, match="dict is not a scenario"):
        client.run(cast("Any", {"sql": SQL}))
