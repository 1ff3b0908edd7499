"""Runs of the service: what they write and answer, one after the other, and after one that fails."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.kafka_topic import read_topic
from tests.serve.asgi_client import Answer, request
from ticdc_producer.cli.remote.command_service import answer_command
from ticdc_producer.cli.serve_command import run_text, verdict_text
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.serve.app import create_app
from ticdc_producer.serve.service import Service, Texts
from ticdc_producer.serve.settings import Limits, ServeSettings
from ticdc_producer.targets.kafka.topics import Topics

SQL = """CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(20), price DECIMAL(8,2), note VARBINARY(9));
INSERT INTO orders VALUES (1, 'lamp', 19.90, x'ff'), (2, 'chair', 80, NULL);
UPDATE orders SET price = 75 WHERE id = 2;
"""


@pytest.fixture(scope="module")
def app(kafka: EmbeddedKafka) -> Iterator[Any]:
    limits = Limits(row_changes=50, runs=5, queued=10)
    settings = ServeSettings(kafka=kafka.bootstrap, limits=limits)
    service = Service(settings, Texts(run_text, verdict_text))
    service.start()
    assert service.ready.wait(60)
    yield create_app(service, answer_command)
    service.stop()


def _post(app: Any, body: dict[str, Any], path: str = "/v1/runs") -> dict[str, Any]:
    answer = request(app, "POST", f"{path}?wait=60", content=body)
    assert answer.status == 202, answer.body
    return dict(answer.json)


def _get(app: Any, task: dict[str, Any], part: str) -> Answer:
    answer = request(app, "GET", f"/v1/runs/{task['id']}/{part}")
    assert answer.status == 200, answer.body
    return answer


def _json_lines(answer: Answer) -> list[Any]:
    return [json.loads(line) for line in answer.body.splitlines()]


def test_a_run_and_all_that_it_answers(app: Any, kafka: EmbeddedKafka) -> None:
    run = _post(
        app,
        {
            "sql": SQL,
            "file": "orders.sql",
            "protocol": "canal-json",
            "options": {"enable-tidb-extension": "true"},
            "partitions": 2,
            "dispatch": "index-value",
            "traps": ["duplicate-message:rate=1"],
            "seed": 7,
        },
    )
    assert (run["status"], run["ok"], run["exit_code"], run["error"]) == ("finished", True, 0, None)
    assert run["topics"] == [f"ticdc-{run['id']}"]
    messages = _json_lines(_get(app, run, "messages"))
    written = read_topic(kafka.bootstrap, run["topics"][0])
    assert sorted(written) == [0, 1]
    assert sum(map(len, written.values())) == len(messages)
    assert len({message["value"] for message in messages}) < len(messages), "the trap repeats messages"
    assert _get(app, run, "report").json["scenario"] == "orders"
    assert _get(app, run, "verdict").json["ok"] is True
    assert _get(app, run, "state").json == {
        "test.orders": [
            {"id": "1", "item": "lamp", "price": "19.90", "note": {"b64": "/w=="}},
            {"id": "2", "item": "chair", "price": "75.00", "note": None},
        ]
    }
    assert len(_json_lines(_get(app, run, "events"))) == len(_json_lines(_get(app, run, "decoded")))
    with zipfile.ZipFile(io.BytesIO(_get(app, run, "archive").body)) as archive:
        assert {"manifest.json", "messages.jsonl", "events.jsonl"} < set(archive.namelist())
    text = _get(app, run, "text").body.decode()
    assert text.startswith(f"ran orders into kafka://{kafka.bootstrap}/{run['topics'][0]}\n")
    assert text.splitlines()[-1].startswith("verified")
    assert _get(app, run, "text?quiet=true").body.decode() == text.splitlines()[-1] + "\n"
    assert "\x1b[" in _get(app, run, "text?colours=true").body.decode()


def test_rows_of_a_consumer(app: Any) -> None:
    run = _post(app, {"sql": SQL})
    rows = [
        {"id": 1, "item": "lamp", "price": "19.90", "note": {"b64": "/w=="}},
        {"id": 2, "item": "chair", "price": 75, "note": None},
    ]
    path = f"/v1/runs/{run['id']}/comparison"
    assert request(app, "POST", path, content={"tables": {"test.orders": rows}}).json["ok"] is True
    rows[1]["price"] = 80
    outcome = request(app, "POST", path, content={"tables": {"test.orders": rows}}).json
    assert outcome == {
        "ok": False,
        "differences": [
            "table test.orders: 1 different",
            "  different  id='2': price is 80, expected '75.00'",
        ],
    }
    assert request(app, "POST", path, content={"tables": {"test.orders": [5]}}).status == 422
    upper = [
        {name.upper(): value for name, value in row.items()} for row in [rows[0], rows[1] | {"price": 75}]
    ]
    assert request(app, "POST", path, content={"tables": {"test.orders": upper}}).json["ok"] is True
    odd = [rows[0] | {"item": True}, rows[1] | {"item": {"name": "chair"}, "price": 75}]
    spelled = request(app, "POST", path, content={"tables": {"test.orders": odd}}).json["differences"]
    assert "item is true, expected" in spelled[1]
    assert 'item is {"name": "chair"}, expected' in spelled[2]
    half = [rows[0] | {"item": {"name": "\ud800"}, "\udc00": 1}]
    assert request(app, "POST", path, content={"tables": {"test.orders": half}}).json["ok"] is False
    broken = request(
        app, "POST", path, content={"tables": {"test.orders": [rows[0] | {"note": {"b64": "!!"}}]}}
    )
    assert (broken.status, broken.json["error"]["where"]) == (422, "tables.test.orders.0.note")
    bare = request(app, "POST", path, content={"tables": {"orders": rows}})
    assert (bare.status, bare.json["error"]["hint"]) == (422, "did you mean 'test.orders'?")


def test_progress_comes_as_events(app: Any) -> None:
    run = _post(app, {"scenario": "seed_t1"})
    answer = _get(app, run, "progress")
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [part.split("\n") for part in answer.body.decode().rstrip("\n").split("\n\n")]
    kinds = [lines[0] for lines in events]
    assert kinds[0] == "event: status"
    assert {"event: step", "event: progress"} < set(kinds)
    assert events[-1] == ["event: status", 'data: {"status": "finished"}']


def test_a_topic_is_verified_and_decoded(app: Any) -> None:
    run = _post(app, {"sql": SQL, "topic": "served", "protocol": "canal-json", "verify": False})
    assert _get(app, run, "verdict").json is None
    uri = "kafka:///served?protocol=canal-json"
    verification = _post(app, {"sink_uri": uri, "sql": SQL}, "/v1/verifications")
    assert verification["ok"] is True
    assert _get(app, verification, "verdict").json["comparison"]["expected"] > 0
    wrong = _post(app, {"sink_uri": uri, "sql": SQL + "DELETE FROM orders;"}, "/v1/verifications")
    assert (wrong["ok"], wrong["exit_code"]) == (False, 1)
    assert b"VIOLATED" in _get(app, wrong, "text").body
    lines = (
        request(app, "POST", "/v1/decoded?text=true", content={"sink_uri": uri}).body.decode().splitlines()
    )
    assert any("update test.orders id='2'" in line for line in lines)
    events = _json_lines(request(app, "POST", "/v1/decoded", content={"sink_uri": uri}))
    assert {event["kind"] for event in events} == {"ddl", "row"}


def test_the_service_is_well_after_runs_that_fail(app: Any) -> None:
    for body, what in [
        (
            {"sql": "INSERT INTO nope VALUES (1)", "file": "wrong.sql"},
            "wrong.sql:1: Table 'test.nope' doesn't",
        ),
        ({"scenario": "bank"}, "row changes"),
        ({"sql": SQL, "topic": "served"}, "served: the topic already holds messages"),
        ({"sql": SQL, "protocol": "avro"}, "avro"),
    ]:
        answer = request(app, "POST", "/v1/runs?wait=60", content=body)
        if answer.status == 202:
            error = answer.json["error"]
            assert answer.json["status"] == "failed"
            assert answer.json["exit_code"] == 2
        else:
            error = answer.json["error"]
        assert what in ": ".join(part for part in (error["where"], error["what"]) if part)
    assert _post(app, {"scenario": "seed_t1"})["ok"] is True


def test_a_topic_of_somebody_else_is_not_replaced(app: Any, kafka: EmbeddedKafka) -> None:
    from ticdc_producer.config import resolve

    changefeed = resolve(f"kafka://{kafka.bootstrap}/foreign?partition-num=1")
    Topics(kafka.bootstrap).prepare(changefeed, ["foreign"], append=False)
    refused = _post(app, {"sql": SQL, "topic": "foreign", "replace": True})
    assert refused["error"]["what"] == "the topic is not the service's"
    first, second = (_post(app, {"sql": SQL, "topic": "own", "replace": True}) for _ in range(2))
    assert (first["ok"], second["ok"]) == (True, True)


def test_old_runs_are_removed_with_their_topics(app: Any, kafka: EmbeddedKafka) -> None:
    first = _post(app, {"sql": SQL})
    for _ in range(5):
        _post(app, {"sql": SQL, "verify": False, "dry_run": True})
    _post(app, {"sql": SQL, "dry_run": True})
    assert request(app, "GET", f"/v1/runs/{first['id']}").status == 404
    assert first["topics"][0] not in Topics(kafka.bootstrap).existing()
    assert len(request(app, "GET", "/v1/runs").json) <= 6


def test_many_requests_at_once(app: Any) -> None:
    """Each is answered: by a run, or by the limit of the queue."""
    with ThreadPoolExecutor(40) as pool:
        body = {"sql": SQL, "verify": False, "dry_run": True}
        answers = [*pool.map(lambda _: request(app, "POST", "/v1/runs", content=body).status, range(60))]
    assert set(answers) <= {202, 429}
    assert answers.count(202) >= 10
    assert _last_of(app)["status"] == "finished"


def _last_of(app: Any) -> dict[str, Any]:
    last = request(app, "GET", "/v1/runs").json[-1]
    return dict(request(app, "GET", f"/v1/runs/{last['id']}?wait=120").json)


def test_a_refused_run_lists_no_topic_that_it_did_not_create(app: Any) -> None:
    run = _post(app, {"scenario": "seed_t1", "topic": "refused-run", "traps": ["lost-row:times=99"]})
    assert (run["status"], run["topics"]) == ("failed", [])
