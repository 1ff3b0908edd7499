"""A verdict as one HTML page that needs no network and no script.

Text from topics is untrusted: Jinja escapes all of it. Only our own charts are inserted unescaped; they
contain no text from topics. Decided in docs/decisions/0009.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ticdc_producer.model import tso
from ticdc_producer.reports.chart import Scale, partition_chart, scale, sizes_chart, symbol
from ticdc_producer.reports.report import FaultOccurrence, Subject, write_text
from ticdc_producer.reports.text import (
    differences,
    gap_reason,
    kinds,
    not_looked_at,
    run_summary,
    tables_compared,
    why_not_compared,
)
from ticdc_producer.reports.timeline import LISTED, LONGEST_SOURCE, Mark, PartitionCount, Timeline, cut, marks
from ticdc_producer.verifier.finding import EventRef
from ticdc_producer.verifier.invariants.registry import INVARIANTS
from ticdc_producer.verifier.verdict import RequestedFaults, Verdict

_LEGEND = {
    "rows": "commit-ts of rows; the band is the range from the smallest to the largest",
    "resolved": "resolved-ts",
    "ddl": "DDL",
    "damaged": "messages that do not decode",
    "fault": "injected faults",
    "error": "findings: errors",
    "warning": "findings: warnings",
    "info": "findings: infos",
}


@dataclass(frozen=True, slots=True)
class _PartitionChart:
    part: PartitionCount
    chart: Markup


def write_html(
    path: Path,
    subject: Subject,
    verdict: Verdict,
    timeline: Timeline,
    faults: Sequence[FaultOccurrence] = (),
    requested: RequestedFaults | None = None,
) -> None:
    """Write the verdict as a page.

    :param faults: positions of injected faults, for the charts.
    :param requested: the faults of the run, of which the verdict must report the illegal ones; None: none.
    :raises ReportError: if the file cannot be written.
    """
    write_text(path, page(subject, verdict, timeline, faults, requested))


def page(
    subject: Subject,
    verdict: Verdict,
    timeline: Timeline,
    faults: Sequence[FaultOccurrence] = (),
    requested: RequestedFaults | None = None,
) -> str:
    """Return the page's text. Its only date is that of the subject, so the same input gives the same text."""
    axis = scale(bucket for buckets in timeline.buckets.values() for bucket in buckets)
    marked = marks(verdict.findings, faults)
    charted = [part for part in timeline.partitions if (part.topic, part.partition) in timeline.buckets]
    points = _points(charted, marked)
    environment = _environment()
    environment.filters["point"] = lambda event: points.get(
        (event.topic, event.partition, event.offset, event.commit_ts), ""
    )
    template = environment.get_template("page.html.jinja")
    return template.render(
        subject=subject,
        verdict=verdict,
        summary=run_summary(verdict, requested, gaps=False),
        ok=verdict.ok if requested is None else requested.detected(verdict),
        statements={invariant.id: invariant.statement for invariant in INVARIANTS},
        kinds=kinds(verdict),
        not_looked_at=not_looked_at(verdict),
        timeline=timeline,
        faults=sorted(Counter(fault.trap for fault in faults).items()),
        requested=requested if requested and (requested.may_cause or requested.not_injected) else None,
        drawn=[
            _PartitionChart(part, _chart(part, timeline, marked, axis, number))
            for number, part in enumerate(charted)
        ],
        longest_source=LONGEST_SOURCE,
        listed=timeline.partitions[:LISTED],
        most=max((part.messages for part in timeline.partitions), default=1) or 1,
        sizes=Markup(sizes_chart(timeline.sizes)) if timeline.sizes else None,  # noqa: S704 - drawn from numbers alone
        legend=[
            (Markup(symbol(role)), label)  # noqa: S704 - roles are the keys of _LEGEND
            for role, label in _LEGEND.items()
            if role in _visible_roles(timeline, marked)
        ],
        origin=axis.origin,
        began=tso.to_datetime(axis.origin).replace(tzinfo=None).isoformat(" ", "milliseconds"),
    )


def _points(
    charted: Sequence[PartitionCount], marked: Mapping[tuple[str, int], Sequence[Mark]]
) -> dict[tuple[str, int, int | None, int | None], str]:
    """Return the ids of the marks of findings, by topic, partition, offset and commit-ts of the event."""
    return {
        (part.topic, part.partition, mark.offset, mark.commit_ts): mark.id_in(number)
        for number, part in enumerate(charted)
        for mark in marked.get((part.topic, part.partition), ())
        if mark.role != "fault"
    }


def _chart(
    part: PartitionCount,
    timeline: Timeline,
    marked: Mapping[tuple[str, int], Sequence[Mark]],
    axis: Scale,
    number: int,
) -> Markup:
    key = (part.topic, part.partition)
    svg = partition_chart(timeline.buckets[key], marked.get(key, ()), axis, part.last, number)
    return Markup(svg)  # noqa: S704 - a chart of numbers; it contains no text from the topic


def _visible_roles(timeline: Timeline, marked: Mapping[tuple[str, int], Sequence[Mark]]) -> set[str]:
    """Return the roles that occur in the charts; the legend lists no others."""
    buckets = [bucket for some in timeline.buckets.values() for bucket in some]
    occurs = {
        "rows": any(bucket.highest is not None for bucket in buckets),
        "resolved": any(bucket.resolved is not None for bucket in buckets),
        "ddl": any(bucket.ddl_offset is not None for bucket in buckets),
        "damaged": any(bucket.error_offset is not None for bucket in buckets),
    }
    return {name for name, visible in occurs.items() if visible} | {
        mark.role for key, some in marked.items() if key in timeline.buckets for mark in some
    }


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("ticdc_producer.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=lambda value: f"{value:,}",
        cut=cut,
        gap=gap_reason,
        differences=differences,
        detail=_detail,
        tables_compared=tables_compared,
        why_not_compared=why_not_compared,
    )
    return environment


def _detail(event: EventRef, timeline: Timeline) -> str:
    """Return an event with all of its values, or with its key only if the stream does not contain it."""
    if event.offset is None or event.index is None:
        return cut(str(event))
    position = (event.topic, event.partition, event.offset, event.index)
    return timeline.examples.get(position) or cut(str(event))
