"""The hostile requests of docs/serve.md have the answers that the page states."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.serve.service_app import application, no_text
from ticdc_producer.errors import ProducerError
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.submission import RunRequest
from ticdc_producer.serve.tasks.work import NoReports, RunWork, Texts, WorkContext
from ticdc_producer.serve.uploads import Uploads

PAGE = Path(__file__).parents[2] / "docs" / "serve.md"


def _rows(name: str) -> list[list[str]]:
    """The rows of a marked table, without its head."""
    (text,) = re.findall(rf"<!-- tested: {name} -->\n(.*?)<!-- end -->", PAGE.read_text("utf-8"), re.DOTALL)
    lines = text.splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("| "))] for line in lines]


def _plain(text: str) -> str:
    return text.replace("`", "")


@pytest.mark.parametrize("row", _rows("refused"), ids=lambda row: row[0][:60])
def test_a_body_that_is_refused(row: list[str]) -> None:
    body, status, what, hint = (*row, "")[:4]
    with application() as app:
        answer = app("POST", "/v1/runs", content=body.strip("`").encode())
        assert (str(answer.status), _plain(answer.json["error"]["what"])) == (status, _plain(what))
        assert _plain(hint) in _plain(answer.json["error"]["hint"])
        assert app("GET", "/v1/runs").json == []


@pytest.mark.parametrize("row", _rows("ended"), ids=lambda row: row[0][:60])
def test_a_run_that_is_ended(row: list[str], tmp_path: Path) -> None:
    body, what, hint = row
    request = RunRequest(**json.loads(body.strip("`")))
    scenario = Uploads(1).scenario_of(request)
    assert scenario is not None
    settings = ServeSettings(kafka="127.0.0.1:1")
    texts = Texts(no_text, no_text)
    work = RunWork(
        context=WorkContext(settings=settings, texts=texts, make_reports=NoReports, folder=tmp_path),
        request=request,
        scenario=scenario,
        topic="t",
        golden=tmp_path / "golden",
        written=None,
    )
    with pytest.raises(ProducerError) as end:
        work(lambda _event: None)
    assert end.value.what == what
    assert _plain(hint) in end.value.hint
    assert list(tmp_path.iterdir()) == []
