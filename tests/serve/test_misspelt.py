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
