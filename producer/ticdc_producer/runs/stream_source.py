"""A stream that is verified, and the two ways to do it: in one process, or by Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from ticdc_producer.config import Changefeed
from ticdc_producer.runs.change_log import change_log
from ticdc_producer.runs.encoded import encode_once
from ticdc_producer.runs.expected_stream import ReencodedEvents
from ticdc_producer.runs.folder_expectations import FolderExpectations
from ticdc_producer.runs.folder_expected import FolderExpected, small_folder_expected
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.small_run import is_small
from ticdc_producer.runs.small_verification import (
    SmallExpectation,
    SmallExpected,
    SmallVerification,
    small_stream,
    small_verdict,
)
from ticdc_producer.runs.step_rows import Session
from ticdc_producer.runs.topic_ranges import TopicRanges
from ticdc_producer.runs.verification import Expectation, Expected, OnVerdict, verify_messages
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.options import Strictness
from ticdc_producer.verifier.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class StreamSource:
    """A stream, and what is required of it.

    :param topics: the topics that are read; None: those of the messages.
    :param session: called if Spark is needed.
    :param job: the scenario with which events and rows are compared, if one is given.
    :param own: what a folder expects of its messages, if no scenario is given.
    :param in_worker: whether to verify even few messages in a Spark worker.
    :param skipped: ``schema.table`` of tables with rejected rows.
    :param claims: location of the claim-check objects, as URI or path.
    :param schemas: Avro schemas stored in a folder, by the ids in its messages.
    :param on_verdict: called with the decoded stream and the verdict.
    """

    changefeed: Changefeed
    topics: Sequence[str] | None
    session: Session
    strictness: Strictness
    on_verdict: OnVerdict
    job: Job | None = None
    own: FolderExpectations | None = None
    in_worker: bool = False
    skipped: Sequence[str] = ()
    claims: str = ""
    schemas: Mapping[int, str] = field(default_factory=dict)

    def small_verdict(self, messages: pa.Table | TopicRanges) -> Verdict | None:
        """The verdict of one process; None if messages or scenario are too large for it.

        :param messages: what was read (shape ``MESSAGES``), or what is to be read.
        """
        if self.job is not None and not is_small(self.job):
            return None
        topics = self.topics
        if topics is None:
            topics = (
                sorted(set(messages.column("topic").to_pylist())) if isinstance(messages, pa.Table) else ()
            )
        task = SmallVerification(
            changefeed=self.changefeed,
            messages=messages,
            topics=topics,
            expected=self._small_expectation(),
            strictness=self.strictness,
            skipped=self.skipped,
            claims=self.claims,
            schemas=self.schemas,
        )
        found = small_verdict(task, self.job, self.session, in_worker=self.in_worker)
        if found is None:
            return None
        self.on_verdict(small_stream(self.session, task, found))
        return found.verdict

    def _small_expectation(self) -> SmallExpectation | None:
        if self.job is not None:
            return SmallExpected(job=self.job)
        return None if self.own is None else small_folder_expected(self.own)

    def verdict(self, messages: Messages) -> Verdict:
        """The verdict of Spark's tasks."""
        with self._expectation() as expected:
            return verify_messages(
                self.changefeed,
                messages,
                expected,
                topics=self.topics,
                strictness=self.strictness,
                skipped=self.skipped,
                claims=self.claims,
                schemas=self.schemas,
                on_verdict=self.on_verdict,
            )

    @contextmanager
    def _expectation(self) -> Iterator[Expectation | None]:
        """What the scenario requires; without a scenario what the folder itself expects."""
        job = self.job
        if job is None:
            yield None if self.own is None else FolderExpected(folder=self.own, spark=self.session())
            return
        with ExitStack() as stack:
            committed = change_log(self.session(), job.history)
            faults = job.event_faults(illegal=False)
            if faults is not None and committed.shuffles(faults):
                committed = stack.enter_context(committed.materialize_rows(job.stream))
            events, skipped = committed.events(job.stream, faults), frozenset[str]()
            if job.scenario.on_error == "skip":
                with encode_once(job, events, faults=False) as encoded:
                    skipped = encoded.skipped_tables
            yield Expected(job, committed.steps, ReencodedEvents(job, events), skipped)
