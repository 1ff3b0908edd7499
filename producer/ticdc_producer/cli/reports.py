"""The report files that ``run`` and ``verify`` write in addition to their output."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ticdc_producer.errors import ReportError
from ticdc_producer.installation import own_version

if TYPE_CHECKING:
    from ticdc_producer.page.sample import Sample
    from ticdc_producer.page.timeline import FaultOccurrence, Timeline
    from ticdc_producer.reports.report import Subject
    from ticdc_producer.runs.verification import VerifiedStream
    from ticdc_producer.verifier.verdict import RequestedFaults, Verdict

_LARGEST_SOURCE = 1 << 20


def check_verified(path: Path | None, verified: bool) -> None:
    """Check that a requested report will have a verdict.

    :raises ReportError: if the run is not verified.
    """
    if path is not None and not verified:
        what, hint = "a report requires a verified run", "leave out --no-verify, --dry-run and --only"
        raise ReportError(what, path=str(path), hint=hint)


_PASSWORD = re.compile("(?i)passw|secret|token|credential")


def source_of(file: str, text: str) -> str:
    """Return the text of a scenario for the page; empty if it is YAML that may hold a password."""
    return "" if not file.endswith(".sql") and _PASSWORD.search(text) else text


def scenario_source(scenario: str | None) -> str:
    """Return the text of a scenario file or shipped scenario, as ``source_of``.

    It is empty for a folder and for a very large file.
    """
    from ticdc_producer.scenario.load import shipped

    if scenario is None:
        return ""
    library = shipped()
    file = library[scenario] if scenario in library else Path(scenario)
    if isinstance(file, Path) and (file.is_dir() or file.stat().st_size > _LARGEST_SOURCE):
        return ""
    return source_of(scenario, file.read_bytes().decode("utf-8-sig", "replace"))


@dataclass
class Reports:
    """The requested reports; others cost nothing.

    :param verified: whether the command verifies, so that there is a verdict.
    :param source: returns the text of the scenario, for the page.
    :raises ReportError: if a requested report could not be written at the end.
    """

    junit_xml: Path | None
    html: Path | None
    verified: bool = True
    source: Callable[[], str] = str
    _subject: Subject | None = field(default=None, init=False)
    _timeline: Timeline | None = field(default=None, init=False)
    _sample: Sample | None = field(default=None, init=False)
    _tables: Mapping[str, object] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.junit_xml is None and self.html is None:
            return
        from ticdc_producer.reports.report import check_target

        for path in (self.junit_xml, self.html):
            check_verified(path, self.verified)
            if path is not None:
                check_target(path)

    def on_verdict(self, verified: VerifiedStream) -> None:
        """Query the data of the reports while the stream can be read."""
        if self.junit_xml is None and self.html is None:
            return
        from ticdc_producer.reports.report import Subject

        changefeed = verified.changefeed
        self._subject = Subject(
            name=verified.scenario or changefeed.sink_uri.topic,
            protocol=changefeed.protocol,
            seconds=verified.seconds,
            created=f"ticdc-producer {own_version()}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            source="" if self.html is None else self.source(),
        )
        if self.html is not None:
            from ticdc_producer.page.sample import message_sample
            from ticdc_producer.page.timeline_query import timeline_query
            from ticdc_producer.protocols.registry import annotate

            findings = verified.verdict.findings
            self._timeline = timeline_query(verified.events, findings)
            self._sample = message_sample(
                verified.messages,
                verified.decode,
                lambda key, value: annotate(changefeed.protocol, key, value, verified.options),
                self._timeline.partitions,
                findings,
            )
            self._tables = tables_of(verified, self._timeline)

    def write(
        self,
        verdict: Verdict | None,
        faults: Iterable[Mapping[str, object]] = (),
        requested: RequestedFaults | None = None,
    ) -> None:
        """Write the requested reports.

        :param faults: occurrences of the injected faults.
        :param requested: the traps of the run, with what the verdict must report.
        :raises ReportError: if a file cannot be written.
        """
        if verdict is None or self._subject is None:
            return
        if self.junit_xml is not None:
            from ticdc_producer.reports.junit import write_junit

            write_junit(self.junit_xml, self._subject, verdict, requested)
        if self.html is not None and self._timeline is not None:
            from ticdc_producer.reports.html import write_html

            write_html(
                self.html,
                self._subject,
                verdict,
                self._timeline,
                _occurrences(faults),
                requested,
                self._sample,
                self._tables,
            )


def tables_of(verified: VerifiedStream, timeline: Timeline) -> dict[str, object]:
    """Return what the view of the tables shows; of a large stream what shows its tables."""
    from ticdc_producer.page.tables_content import tables_content
    from ticdc_producer.runs.copies.copied_tables import (
        MOST_BYTES,
        MOST_EVENTS,
        VerifiedTables,
        verified_tables,
    )

    events = sum(part.rows + part.ddls + part.resolved for part in timeline.partitions)
    size = sum(part.size for part in timeline.partitions)
    if events > MOST_EVENTS or size > MOST_BYTES:
        note = (
            f"A report has the tables of streams of up to {MOST_EVENTS:,} events and {MOST_BYTES >> 20} MiB. "
            "ticdc-producer serve --attach NAME=SOURCE shows those of larger streams."
        )
        tables = VerifiedTables()
    else:
        tables, note = verified_tables(verified), ""
    if len(tables.times) < tables.all_times:
        kind = "resolved-ts" if tables.resolved else "commit-ts"
        note = f"{len(tables.times)} of {tables.all_times:,} {kind} can be chosen."
    if len(tables.tables) < tables.all_tables:
        note = f"{note} These are the first {len(tables.tables)} of {tables.all_tables:,} tables.".strip()
    return tables_content(tables.times, tables.tables, resolved=tables.resolved, note=note)


def _occurrences(faults: Iterable[Mapping[str, Any]]) -> list[FaultOccurrence]:
    """Return the faults with a position in the topic. A message that is missing at the end has none."""
    from ticdc_producer.page.timeline import FaultOccurrence

    names = FaultOccurrence.__slots__
    occurrences = ({name: fault[name] for name in names} for fault in faults if fault["offset"] is not None)
    return [FaultOccurrence(**fault) for fault in occurrences]
