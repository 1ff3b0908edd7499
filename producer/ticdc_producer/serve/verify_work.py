"""A verification, in the process of its task."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ticdc_producer.runs.verify import verify
from ticdc_producer.scenario.load import ScenarioFile
from ticdc_producer.serve.child_messages import Result, StepNews, Tell, result_of_task
from ticdc_producer.serve.posted import restricted
from ticdc_producer.serve.posted_files import PostedFiles
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.source import source
from ticdc_producer.serve.submission import VerifyRequest
from ticdc_producer.serve.work import MakeReports, Texts, config_file


@dataclass(frozen=True, kw_only=True)
class VerifyWork:
    """The verification of a topic or of posted files.

    :param scenario: the checked scenario of the request.
    :param posted: a golden folder, instead of the topic of the request.
    :param folder: folder of the task.
    """

    request: VerifyRequest
    scenario: ScenarioFile | None
    posted: PostedFiles | None
    settings: ServeSettings
    texts: Texts
    make_reports: MakeReports
    folder: Path

    def __call__(self, tell: Tell) -> Result:
        """Verify it."""
        request, settings = self.request, self.settings
        reports = self.make_reports(self.folder)
        with (
            restricted(settings),
            source(request.sink_uri, self.posted, self.folder, settings) as arguments,
        ):
            verdict = verify(
                **arguments,
                scenario=self.scenario,
                config=config_file(request.config, self.folder),
                inject=request.traps,
                state_at=request.state_at,
                strict_table_order=request.strict_table_order,
                from_beginning=request.from_beginning,
                resolved_gap_ms=request.resolved_gap_ms,
                examples=request.examples,
                on_status=lambda line: tell(StepNews(line)),
                on_verdict=reports.on_verdict,
            )
        reports.write(verdict)
        return result_of_task(
            verdict.ok, verdict.to_json(), partial(self.texts.verdict, verdict, self.scenario is not None)
        )
