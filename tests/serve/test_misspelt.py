"""Misspelt parameters and paths are refused with the right name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.service_app import App, application
from ticdc_producer.serve.settings import ServeSettings


@pytest.fixture
def app() -> Iterator[App]:
    with application(ServeSettings(kafka="k:1")) as served:
        yield served


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("POST", "/v1/runs?wiat=5", "wait"),
        ("POST", "/v1/verifications?waits=5", "wait"),
        ("GET", "/v1/runs/x?wat=5", "wait"),
        ("GET", "/v1/runs/x/text?color=1", "colours"),
        ("POST", "/v1/decoded?txt=1", "text"),
        ("GET", "/v1/conformance/cases?protocl=craft", "protocol"),
    ],
)
def test_an_unknown_parameter_is_refused(app: App, method: str, path: str, name: str) -> None:
    answer = app(method, path, **({"content": {"sink_uri": "kafka:///t"}} if method == "POST" else {}))
    assert answer.status == 422
    assert answer.json["error"]["what"].startswith("unknown parameter")
    assert answer.json["error"]["hint"] == f"did you mean {name!r}?"
    assert app.service.worker.tasks == []


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("/v1/run", "/v1/runs"),
        ("/v1/runs/1/verdit", "/v1/runs/{number}/verdict"),
        ("/v1/scenario", "/v1/scenarios"),
    ],
)
def test_an_unknown_path_names_the_nearest(app: App, path: str, known: str) -> None:
    answer = app("GET", path)
    assert (answer.status, answer.json["error"]["hint"]) == (404, f"did you mean {known!r}?")


@pytest.mark.parametrize(
    ("path", "content", "what"),
    [
        ("/v1/runs", {"scenario": "bank", "partitions": 0}, "0 is too small: the smallest value is 1"),
        ("/v1/previews", {"steps": [], "partitions": 1}, "unknown key 'steps'"),
        ("/v1/runs", {"scenario": "bank", "partitions": 101}, "101 is too large: the largest value is 100"),
        ("/v1/runs?wait=601", {"scenario": "bank"}, "601 is too large: the largest value is 600"),
        ("/v1/runs", {"scenario": "bank", "start_ts": 0}, "0 is too small: the smallest value is 1"),
        ("/v1/runs", {"scenario": "x" * 301}, "the text is too long: it may have 300 characters"),
        ("/v1/runs", {"scenario": "bank", "traps": ["a"] * 101}, "there are 101 entries: 100 are allowed"),
        (
            "/v1/runs", {"scenario": "bank", "options": {str(i): "" for i in range(51)}},
            "there are 51 entries: 50 are allowed",
        ),
        ("/v1/verifications", {"sink_uri": "kafka:///t", "examples": 101}, "the largest value is 100"),
    ],
)  # fmt: skip
def test_values_out_of_range_are_refused_with_the_limit(
    app: App, path: str, content: dict[str, object], what: str
) -> None:
    answer = app("POST", path, content=content)
    assert answer.status == 422
    assert what in answer.json["error"]["what"]
    assert "-" not in answer.json["error"]["where"]
    assert "Input should" not in str(answer.json)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/yaml", b"steps:\n- sql: SELECT 1\n"),
        ("application/sql", b"CREATE TABLE t (id INT PRIMARY KEY)"),
        ("application/json", b"steps:\n- sql: SELECT 1\n"),
        ("application/json", b'{"steps": [{"sql": "SELECT 1"}]}'),
        ("application/json", b'{"yaml": {"steps": [{"sql": "SELECT 1"}]}}'),
    ],
)
def test_a_scenario_instead_of_a_request_is_refused_with_the_form_of_a_request(
    app: App, kind: str, body: bytes
) -> None:
    answer = app("POST", "/v1/runs", chunks=[body], headers=[("content-type", kind)])
    assert answer.status == 422
    assert '{"yaml": "steps: …"} or {"sql": "CREATE TABLE …"}' in answer.json["error"]["hint"]


def test_a_topic_is_named_as_the_client_wrote_it(app: App) -> None:
    answer = app("POST", "/v1/runs", content={"scenario": "seed_t1", "topic": "a b"})
    assert answer.json["error"]["what"].startswith("'a b' is not a topic name")
