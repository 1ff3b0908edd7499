"""Previews: the messages of a scenario as a run writes them, without a Kafka."""

from __future__ import annotations

import threading
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.service_app import App, application
from tests.serve.works import ENDLESS_RUN
from ticdc_producer import api
from ticdc_producer.serve.settings import Limits, ServeSettings
from ticdc_producer.testing.topic import Golden

SQL = """CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(20), price DECIMAL(8,2));
INSERT INTO orders VALUES (1, 'lamp', 19.90), (2, 'chair', 80);
BEGIN;
UPDATE orders SET price = 75 WHERE id = 2;
UPDATE orders SET item = 'seat' WHERE id = 2;
COMMIT;
UPDATE orders SET id = 4 WHERE id = 1;
"""
SIX = ("canal-json", "open-protocol", "avro", "simple", "debezium", "craft")


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    with application(ServeSettings(limits=Limits(preview_rows=50, preview_messages=20))) as started:
        yield started


def preview(app: App, **body: Any) -> dict[str, Any]:
    answer = app("POST", "/v1/previews", content=body)
    assert answer.status == 200, answer.body
    return dict(answer.json)


def _bytes(content: dict[str, Any] | None) -> bytes | None:
    if content is None:
        return None
    return content["text"].encode() if "text" in content else b64decode(content["b64"])


@pytest.mark.parametrize("protocol", ["craft", "canal-json"])
def test_the_messages_are_those_of_a_run(app: App, tmp_path: Path, protocol: str) -> None:
    file = tmp_path / "scenario.sql"
    file.write_text(SQL, "utf-8")
    uri = f"kafka:///scenario?protocol={protocol}&partition-num=2"
    api.run(str(file), sink_uri=uri, inject=["duplicate-message:rate=1"], out=tmp_path / "golden")
    written = [
        (message.partition, message.offset, message.key, message.value)
        for message in Golden(tmp_path / "golden").records
    ]
    (of_protocol,) = preview(
        app, sql=SQL, protocols=[protocol], partitions=2, traps=["duplicate-message:rate=1"]
    )["previews"]
    displayed = [
        (message["partition"], message["offset"], _bytes(message["key"]), _bytes(message["value"]))
        for message in of_protocol["messages"]
    ]
    assert displayed == written[:20], "at most as many as the limit allows"
    assert of_protocol["total"] == len(written)
    assert of_protocol["faults"]


def test_each_event_names_its_statements_and_its_change(app: App) -> None:
    content = preview(app, sql=SQL, protocols=SIX, options={"canal-json": {"enable-tidb-extension": "true"}})
    assert [of_protocol["protocol"] for of_protocol in content["previews"]] == list(SIX)
    statements = {entry["line"]: entry["text"] for entry in content["statements"]}
    assert statements[4] == "UPDATE orders SET price = 75 WHERE id = 2"
    changes = []
    for of_protocol in content["previews"]:
        events = [event for message in of_protocol["messages"] for event in message["events"]]
        lines = {tuple(event["lines"]) for event in events if event["kind"] == "row"}
        assert lines == {(2,), (4, 5), (7,)}
        changes.append({event["change"] for event in events if event["kind"] == "row"})
    assert all(of_one == changes[0] for of_one in changes), "a change has one name in all protocols"


def test_statements_of_one_line_are_all_named(app: App) -> None:
    content = preview(
        app, sql="CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1); DELETE FROM t"
    )
    assert {entry["line"]: entry["text"] for entry in content["statements"]}[2] == (
        "INSERT INTO t VALUES (1); DELETE FROM t"
    )


def test_a_transaction_of_many_rows_has_its_causes_in_time() -> None:
    """Each event is compared with the changes of its row, not with all of its transaction."""
    values = ",\n".join(f"({number}, 'x')" for number in range(2400))
    sql = f"CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));\nINSERT INTO t VALUES {values};"
    with application() as large:
        (of_protocol,) = preview(large, sql=sql, protocols=["open-protocol"])["previews"]
    events = [event for message in of_protocol["messages"] for event in message["events"]]
    lines = [event["lines"][0] for event in events if event["kind"] == "row"]
    assert lines == [2] * 2400


def test_avro_needs_no_registry_and_the_one_of_the_service_gets_nothing() -> None:
    """Nothing listens at these addresses."""
    settings = ServeSettings(kafka="127.0.0.1:1", schema_registry="http://127.0.0.1:1")
    with application(settings) as with_servers, application() as alone:
        (of_protocol,) = preview(with_servers, sql=SQL, protocols=["avro"])["previews"]
        assert of_protocol == preview(alone, sql=SQL, protocols=["avro"])["previews"][0]
    assert of_protocol["messages"]


def test_times_are_texts_because_javascript_would_round_them(app: App) -> None:
    (of_protocol,) = preview(app, sql=SQL, protocols=["open-protocol"])["previews"]
    resolved = {
        event["commit_ts"]
        for message in of_protocol["messages"]
        for event in message["events"]
        if event["kind"] == "resolved"
    }
    assert of_protocol["resolved"]
    assert resolved <= set(of_protocol["times"])
    assert all(int(ts) > 1 << 53 for ts in resolved)


def test_the_tables_as_of_a_time(app: App) -> None:
    request = {"sql": SQL, "protocols": ["open-protocol"]}
    times = preview(app, **request)["previews"][0]["times"]
    states = [preview(app, **request, state_at=ts)["previews"][0]["tables"]["test.orders"] for ts in times]
    assert [[row["id"] for row in rows] for rows in states] == [[], ["1", "2"], ["1", "2"], ["2", "4"]]
    assert states[2][1] == {"id": "2", "item": "seat", "price": "75.00"}


def test_a_verdict_with_the_findings_of_a_trap(app: App) -> None:
    request = {"sql": SQL, "protocols": ["open-protocol"], "verify": True}
    (correct,) = preview(app, **request)["previews"]
    assert correct["ok"]
    assert correct["verdict"]["findings"] == []
    (faulty,) = preview(app, **request, traps=["missing-ddl:times=1"])["previews"]
    assert "INV-DDL-BROADCAST" in {finding["id"] for finding in faulty["verdict"]["findings"]}
    assert faulty["ok"], "it finds what was injected"


def test_problems_have_the_lines_of_the_text(app: App) -> None:
    (problem,) = preview(app, sql="CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES ('x')")[
        "problems"
    ]
    assert (problem["line"], "Incorrect integer value" in problem["what"]) == (2, True)
    of_yaml = preview(app, yaml="version: 1\nstepz: []\n")["problems"]
    assert {problem["line"] for problem in of_yaml} == {1, 2}
    of_many = preview(app, yaml="steps: []\n" + "".join(f"unknown{number}: 1\n" for number in range(30)))
    assert [problem["line"] for problem in of_many["problems"]] == [1, 1, *range(2, 24)]


def test_the_error_of_a_protocol_leaves_the_others(app: App) -> None:
    nothing, craft = preview(app, sql=SQL, protocols=["nothing", "craft"])["previews"]
    assert "'nothing' is not known" in nothing["error"]["what"]
    assert craft["messages"]


@pytest.mark.parametrize(
    ("body", "status", "what"),
    [
        ({}, 422, "exactly one of scenario, sql and yaml"),
        ({"sql": SQL, "scenario": "bank"}, 422, "exactly one of scenario, sql and yaml"),
        ({"scenario": "/etc/passwd"}, 404, "there is no such scenario"),
        ({"sql": SQL, "protocl": "avro"}, 422, "unknown key 'protocl'"),
        ({"sql": SQL, "config": '[sink.kafka-config]\nca="/etc/x"'}, 200, "ca is set"),
        ({"sql": SQL, "options": {"avro": {"schema-registry": "http://x"}}, "protocols": ["avro"]}, 200,
            "schema-registry is set where the service is started"),
        ({"scenario": "bank"}, 200, "the run has 2100 row changes"),
        ({"sql": "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1)",
            "overrides": ["clock.every=10h", "resolved.every=1ms"]}, 200, "runs up to 10000 events"),
        ({"sql": "CREATE TABLE t (id INT PRIMARY KEY, v LONGTEXT);"
            "INSERT INTO t VALUES (1, REPEAT('a', 9000000))"}, 200, "more than 8388608 bytes of row images"),
        ({"yaml": "version: 1\n"
            "steps: [{data: {table: t, transactions: 1, format: text, order: n, path: /x}}]"},
            403, "`data` steps read files"),
        ({"yaml": "x: &a [*a, *a]"}, 200, "aliases are not supported"),
    ],
)  # fmt: skip
def test_what_is_refused(app: App, body: dict[str, Any], status: int, what: str) -> None:
    answer = app("POST", "/v1/previews", content=body)
    assert answer.status == status, answer.body
    assert what in str(answer.json)
    assert not any(of_protocol.get("messages") for of_protocol in answer.json.get("previews", ()))


def test_sql_that_makes_too_many_rows_ends_while_it_runs(app: App) -> None:
    values = ", ".join(f"({number})" for number in range(51))
    sql = f"CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES {values}"
    answer = app("POST", "/v1/previews", content={"sql": sql})
    assert "more than 50 row changes" in str(answer.json)
    (fits,) = preview(app, sql=sql.replace(", (50)", ""), protocols=["open-protocol"])["previews"]
    assert sum(len(message["events"]) for message in fits["messages"]) >= 50


def test_one_change_has_the_messages_that_it_has_in_the_whole_stream(app: App) -> None:
    whole = preview(app, sql=SQL, protocols=SIX)["previews"]
    change = next(
        event["change"]
        for message in whole[0]["messages"]
        for event in message["events"]
        if event.get("op") == "update"
    )
    for of_protocol, alone in zip(
        whole, preview(app, sql=SQL, protocols=SIX, change=change)["previews"], strict=True
    ):
        carrying = [
            message
            for message in of_protocol["messages"]
            if any(event.get("change") == change for event in message["events"])
        ]
        assert alone["messages"] == carrying != []
        assert alone["total"] == of_protocol["total"]


def test_two_processes_make_what_one_makes() -> None:
    with application() as started:
        protocols = (*SIX, "nothing")
        of_one = preview(started, sql=SQL, protocols=protocols, verify=True)
        second = started.service._previews.both[1]
        second.start()
        assert second.is_ready
        of_two = preview(started, sql=SQL, protocols=protocols, verify=True)
        assert {**of_two, "seconds": 0} == {**of_one, "seconds": 0}
        (problem,) = preview(started, sql="CREATE TABEL t", protocols=SIX)["problems"]
        assert problem["line"] == 1


@pytest.mark.parametrize("protocols", [["craft"], ["craft", "avro"]], ids=len)
def test_a_preview_that_does_not_end_delays_no_other_one(protocols: list[str]) -> None:
    """That of several protocols has both processes, until another preview is requested."""
    with application(ServeSettings(limits=Limits(check_seconds=600))) as started:
        used = started.service._previews.both[: len(protocols)]
        for process in used:
            process.start()
        hangs = threading.Thread(
            target=started,
            args=("POST", "/v1/previews"),
            kwargs={"content": {**ENDLESS_RUN, "protocols": protocols}},
        )
        hangs.start()
        while not all(process.is_busy for process in used):
            assert hangs.is_alive()
        assert preview(started, sql=SQL, protocols=["craft"])["previews"]
        assert hangs.is_alive()
        started.service.stop()
        hangs.join(60)
        assert not hangs.is_alive()


def test_the_choices_of_the_forms(app: App) -> None:
    choices = app("GET", "/v1/choices").json
    canal = next(entry for entry in choices["protocols"] if entry["name"] == "canal-json")
    names = {parameter["name"] for parameter in canal["parameters"]}
    assert {"enable-tidb-extension", "content-compatible"} <= names
    assert not {"sasl-password", "ca", "schema-registry", "partition-num"} & names
    for parameter in canal["parameters"]:  # what the form offers, the service accepts
        schema = parameter["schema"]
        values = schema.get("enum") or ([True] if schema.get("type") == "boolean" else [])
        for value in values:
            profile = {"profile": parameter["profiles"][0]} if parameter["profiles"] else {}
            options = {canal["name"]: {**profile, parameter["name"]: str(value).lower()}}
            (displayed,) = preview(app, sql=SQL, protocols=[canal["name"]], options=options)["previews"]
            assert "error" not in displayed, displayed
