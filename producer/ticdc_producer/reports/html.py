"""A verdict as one HTML file: the page of the service with the data of the report inside.

Text from topics is untrusted: it is inert JSON in the file, and text nodes in the page. Decided in
docs/decisions/0009.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from ticdc_producer.page.one_file import one_file
from ticdc_producer.page.sample import Sample, cut
from ticdc_producer.page.stream_content import exact
from ticdc_producer.page.tables_content import tables_content
from ticdc_producer.page.timeline import LISTED, FaultOccurrence, Timeline, few_faults
from ticdc_producer.page.timeline_content import chart_objects
from ticdc_producer.reports.report import Subject, write_text
from ticdc_producer.reports.verdict_content import verdict_content
from ticdc_producer.verifier.invariants.registry import INVARIANTS
from ticdc_producer.verifier.verdict import RequestedFaults, Verdict

LONGEST_SOURCE = 20_000
"""Maximum number of characters of the scenario's text on the page."""


def write_html(
    path: Path,
    subject: Subject,
    verdict: Verdict,
    timeline: Timeline,
    faults: Sequence[FaultOccurrence] = (),
    requested: RequestedFaults | None = None,
    sample: Sample | None = None,
    tables: Mapping[str, object] | None = None,
) -> None:
    """Write the verdict as a page.

    :param faults: positions of injected faults, for the charts.
    :param requested: the faults of the run, of which the verdict must report the illegal ones; None: none.
    :param sample: messages of the stream; None: none.
    :param tables: what the view of the tables shows, see ``tables_content``; None: nothing.
    :raises ReportError: if the file cannot be written.
    """
    write_text(path, page(subject, verdict, timeline, faults, requested, sample, tables))


def page(
    subject: Subject,
    verdict: Verdict,
    timeline: Timeline,
    faults: Sequence[FaultOccurrence] = (),
    requested: RequestedFaults | None = None,
    sample: Sample | None = None,
    tables: Mapping[str, object] | None = None,
) -> str:
    """Return the page's text. Its only date is that of the subject, so the same input gives the same text."""
    data = report_content(subject, verdict, timeline, faults, requested, sample or Sample())
    data["tables"] = tables_content((), {}, resolved=False, note="") if tables is None else tables
    summary = verdict_content(verdict, requested)["summary"]
    return one_file(f"{subject.name}: {summary}", str(summary), data)


def report_content(
    subject: Subject,
    verdict: Verdict,
    timeline: Timeline,
    faults: Sequence[FaultOccurrence],
    requested: RequestedFaults | None,
    sample: Sample,
) -> dict[str, object]:
    """Return the data of the page."""
    injected = Counter(fault.trap for fault in faults)
    ok = verdict.ok if requested is None else requested.detected(verdict)
    content = {
        "name": cut(subject.name),
        "protocol": cut(subject.protocol),
        "created": subject.created,
        "source": cut(subject.source, LONGEST_SOURCE),
        "lines": len(subject.source.splitlines()),
        "verified": {
            "verdict": verdict_content(verdict, requested, sample.examples, injected),
            "ok": ok,
            "not_injected": {} if requested is None else dict(requested.not_injected),
            "warnings": [],
            "faults": [asdict(fault) for fault in few_faults(faults, timeline)],
        },
        "invariants": {invariant.id: invariant.statement for invariant in INVARIANTS},
        "messages": sample.messages,
        "total": sum(part.messages for part in timeline.partitions),
        "charts": chart_objects(timeline),
        "partitions": [asdict(part) for part in timeline.partitions[:LISTED]],
        "more_partitions": max(0, len(timeline.partitions) - LISTED),
        "sizes": [[power, count] for power, count in timeline.sizes.items()],
    }
    return exact(content)
