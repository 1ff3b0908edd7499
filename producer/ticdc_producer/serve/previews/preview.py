"""Previews: the messages of a small scenario in several protocols, without any Kafka."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, zip_longest
from time import perf_counter
from typing import Any, cast

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import EnvironmentFailure, ProducerError, ScenarioError, ScenarioProblems
from ticdc_producer.faults.trap import TrapSetting
from ticdc_producer.hints import MAX_LISTED
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.page.stream_content import exact, message_objects, table_objects
from ticdc_producer.protocols.registry import annotate
from ticdc_producer.protocols.spans import ByteSpan
from ticdc_producer.reports.verdict_content import verdict_content
from ticdc_producer.runs.stream_preview import StreamPreview, preview_stream, statements_of, tables_at
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.scenario_file import ScenarioFile
from ticdc_producer.serve.guard import error_content
from ticdc_producer.serve.posted import changefeed_of_traced_run, restricted
from ticdc_producer.serve.settings import Limits, ServeSettings
from ticdc_producer.serve.submission import PreviewRequest
from ticdc_producer.serve.tasks.child_messages import Result, Tell
from ticdc_producer.serve.tasks.limits import first_excess, size_check
from ticdc_producer.serve.uploads import PostedScenario
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import planned, with_times
from ticdc_producer.simulate.scenario_changefeed import with_traps

_TOPIC = "preview"
_NO_TEXTS = ("", "", "", "")


@dataclass(frozen=True, kw_only=True)
class Preview:
    """A preview, in the process that makes them."""

    request: PreviewRequest
    scenario: PostedScenario
    settings: ServeSettings

    def __call__(self, _tell: Tell) -> Result:
        """Make it; the result is ok unless the scenario has problems, which it then has instead."""
        started = perf_counter()
        try:
            content = self._content()
        except (ScenarioError, ScenarioProblems) as error:
            content = {"problems": [*_problems(error)]}
        content["seconds"] = round(perf_counter() - started, 4)
        return Result("problems" not in content, content, _NO_TEXTS)

    def halves(self) -> tuple[Preview, Preview]:
        """Return the previews of every second protocol, and of the others; ``joined`` makes one of them."""
        names = self.request.protocols
        first, second = (
            replace(self, request=self.request.model_copy(update={"protocols": half}))
            for half in (names[::2], names[1::2])
        )
        return first, second

    def _content(self) -> dict[str, object]:
        scenario = self.scenario.parsed(self.settings)
        histories = _Histories(self.request, scenario, self.settings)
        previews = [self._of_protocol(name, histories) for name in self.request.protocols or (None,)]
        return {
            "scenario": scenario.name,
            "statements": [
                {"line": line, "text": text[:_LONGEST_STATEMENT]}
                for line, text in islice(statements_of(scenario).items(), _MOST_STATEMENTS)
            ],
            "previews": previews,
        }

    def _of_protocol(self, protocol: str | None, histories: _Histories) -> dict[str, object]:
        """Return the preview of one protocol, or its error: others may accept the scenario."""
        try:
            job = histories.job(protocol)
            if (ts := self.request.state_at) is not None:
                return {"protocol": job.changefeed.protocol, "tables": table_objects(tables_at(job, ts))}
            preview = preview_stream(job, verify_output=self.request.verify, change=self.request.change)
            content = preview_content(preview, self.settings.limits)
        except (ScenarioError, EnvironmentFailure):
            raise
        except ProducerError as error:
            return {"protocol": protocol, "error": error_content(error)}
        return content


def joined(first: dict[str, object], second: dict[str, object]) -> dict[str, object]:
    """Return the content of a preview from those of its halves. Each has the problems of the scenario."""
    for content in (first, second):
        if "problems" in content:
            return content
    halves = (cast("list[object]", content["previews"]) for content in (first, second))
    both = [preview for pair in zip_longest(*halves) for preview in pair if preview is not None]
    return {
        **first,
        "previews": both,
        "seconds": max(cast(float, content["seconds"]) for content in (first, second)),
    }


_LONGEST_STATEMENT = 2000
_MOST_STATEMENTS = 1000


def _problems(error: ScenarioError | ScenarioProblems) -> Iterator[dict[str, object]]:
    for problem in error.problems[:MAX_LISTED] if isinstance(error, ScenarioProblems) else (error,):
        yield {
            "line": problem.line or None,
            "what": problem.what,
            "excerpt": problem.excerpt,
            "hint": problem.hint,
        }


class _Histories:
    """The history of a scenario's SQL, executed once for all changefeeds that see the same one."""

    def __init__(self, request: PreviewRequest, scenario: ScenarioFile, settings: ServeSettings) -> None:
        self._request, self._settings = request, _without_servers(settings)
        timed = with_times(
            scenario, seed=request.seed, start_ts=request.start_ts, target_ts=request.target_ts
        )
        self._scenario, self._traps = with_traps(timed, request.traps)
        self._executed: dict[object, History] = {}

    def job(self, protocol: str | None) -> Job:
        """Plan the stream of a protocol.

        :raises RefusedRequest: for a stream that is too large.
        """
        changefeed = changefeed_of_traced_run(
            self._request.run_request(protocol), self._scenario, _TOPIC, self._settings
        )
        limits = _preview_limits(self._settings.limits)
        job = self._planned(changefeed, self._traps, limits)
        excess = first_excess(job, limits)
        if excess is not None:
            raise excess.refusal()
        return job

    def _planned(self, changefeed: Changefeed, traps: Mapping[str, TrapSetting], limits: Limits) -> Job:
        state_at = () if self._request.state_at is None else (self._request.state_at,)
        seen = changefeed.force_replicate, changefeed.profile
        with restricted(self._settings):
            if seen not in self._executed:
                self._executed[seen] = execute(
                    self._scenario,
                    force_replicate=changefeed.force_replicate,
                    profile=changefeed.profile,
                    state_at=state_at,
                    check_size=size_check(self._scenario.file, limits),
                )
            history = replace(self._executed[seen])  # the plan of a stream changes its catalog
            return planned(self._scenario, changefeed, history, traps=traps, state_at=state_at)


def _without_servers(settings: ServeSettings) -> ServeSettings:
    """Return the settings for changefeeds that no Kafka and no registry gets; the ids of schemas are our own.

    With brokers, Avro would require a registry.
    """
    return replace(settings, kafka="", kafka_properties=(), schema_registry="")


def _preview_limits(limits: Limits) -> Limits:
    return replace(
        limits,
        row_changes=min(limits.row_changes, limits.preview_rows),
        events=min(limits.events, limits.preview_events),
        image_bytes=min(limits.image_bytes, limits.preview_bytes),
        stream_bytes=min(limits.stream_bytes, limits.preview_bytes),
    )


def preview_content(preview: StreamPreview, limits: Limits) -> dict[str, object]:
    """Return the preview of one protocol."""
    messages = preview.messages.slice(0, limits.preview_messages).to_pylist()
    report, verdict = preview.report.to_json(), preview.report.verdict
    job = preview.job

    @cache  # resolved events have the same bytes in each partition
    def spans_of(key: bytes | None, value: bytes | None) -> list[ByteSpan]:
        return annotate(job.changefeed.protocol, key, value, preview.options)

    def extra(row: DecodedRow) -> Mapping[str, object]:
        cause = preview.causes.get((row["topic"], row["partition"], row["offset"], row["index"]))
        if cause is None:
            return {}
        return {"lines": cause.lines, "change": cause.change, "rows": cause.rows}

    content = {
        "protocol": job.changefeed.protocol,
        "total": preview.total,
        "times": _times(job, preview.resolved),
        "resolved": bool(preview.resolved),
        "faults": preview.faults,
        "ok": None if preview.report.verdict is None else preview.report.ok,
        "not_injected": preview.report.not_injected,
        "verdict": None if verdict is None else verdict_content(verdict, preview.report.requested_faults),
        **{name: report[name] for name in ("warnings", "discarded", "skipped")},
    }
    return {
        **exact(content),
        "messages": [*message_objects(messages, preview.events, spans_of, extra)],
    }


def _times(job: Job, resolved: Sequence[int]) -> list[Any]:
    """Return the times at which tables can be compared: those of resolved events, else of the commits."""
    clock = job.stream.resolved.clock
    commits = (clock.ts(number) for number in range(job.first_commit, job.history.commits))
    return [*resolved] or [*islice(commits, _MOST_TIMES)]


_MOST_TIMES = 10_000
