"""A verdict as one HTML page that needs no network and no script.

What comes from topics is hostile: Jinja escapes all of it, and only our own drawings, which hold none of it,
are put in as they are. Decided in docs/decisions/0009.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ticdc_producer.model import tso
from ticdc_producer.reports.chart import partition_chart, sizes_chart, symbol
from ticdc_producer.reports.labels import differences, gap_reason, kinds, summary
from ticdc_producer.reports.limits import LISTED, cut
from ticdc_producer.reports.marks import Mark, marks
from ticdc_producer.reports.scale import Scale, scale
from ticdc_producer.reports.subject import FaultPlace, Subject
from ticdc_producer.reports.target import write_text
from ticdc_producer.reports.timeline import PartitionCount, Timeline
from ticdc_producer.verifier.finding import EventRef
from ticdc_producer.verifier.verdict import Verdict

_LEGEND = {
    "rows": "commit-ts of rows; the band reaches from the smallest to the largest",
    "resolved": "resolved-ts",
    "ddl": "DDL",
    "damaged": "messages that do not decode",
    "fault": "injected faults",
    "error": "findings: errors",
    "warning": "findings: warnings",
    "info": "findings: infos",
}


@dataclass(frozen=True, slots=True)
class _Drawn:
    part: PartitionCount
    chart: Markup


def write_html(
    path: Path,
    subject: Subject,
    verdict: Verdict,
    timeline: Timeline,
    faults: Sequence[FaultPlace] = (),
) -> None:
    """Write the verdict as a page.

    :param faults: places of faults that were injected, to be drawn.
    :raises ReportError: if the file cannot be written.
    """
    write_text(path, page(subject, verdict, timeline, faults))


def page(subject: Subject, verdict: Verdict, timeline: Timeline, faults: Sequence[FaultPlace] = ()) -> str:
    """The page's text. The same verdict gives the same text: it names no time and no machine."""
    axis = scale(bucket for buckets in timeline.buckets.values() for bucket in buckets)
    marked = marks(verdict.findings, faults)
    template = _environment().get_template("page.html.jinja")
    return template.render(
        subject=subject,
        verdict=verdict,
        summary=summary(verdict),
        kinds=kinds(verdict),
        timeline=timeline,
        faults=sorted(Counter(fault.trap for fault in faults).items()),
        drawn=[
            _Drawn(part, _chart(part, timeline, marked, axis))
            for part in timeline.partitions
            if (part.topic, part.partition) in timeline.buckets
        ],
        listed=timeline.partitions[:LISTED],
        most=max((part.messages for part in timeline.partitions), default=1) or 1,
        sizes=Markup(sizes_chart(timeline.sizes)) if timeline.sizes else None,  # noqa: S704 - drawn from numbers alone
        legend=[
            (Markup(symbol(role)), words)  # noqa: S704 - roles are the keys of _LEGEND
            for role, words in _LEGEND.items()
            if role in _shown(timeline, marked)
        ],
        origin=axis.origin,
        began=tso.to_datetime(axis.origin).replace(tzinfo=None).isoformat(" ", "milliseconds"),
    )


def _chart(
    part: PartitionCount, timeline: Timeline, marked: Mapping[tuple[str, int], Sequence[Mark]], axis: Scale
) -> Markup:
    key = (part.topic, part.partition)
    svg = partition_chart(timeline.buckets[key], marked.get(key, ()), axis, part.last)
    return Markup(svg)  # noqa: S704 - a drawing of numbers; it holds no text of the topic's


def _shown(timeline: Timeline, marked: Mapping[tuple[str, int], Sequence[Mark]]) -> set[str]:
    """What the charts show, for a legend without the rest."""
    buckets = [bucket for some in timeline.buckets.values() for bucket in some]
    there = {
        "rows": any(one.highest is not None for one in buckets),
        "resolved": any(one.resolved is not None for one in buckets),
        "ddl": any(one.ddl_offset is not None for one in buckets),
        "damaged": any(one.error_offset is not None for one in buckets),
    }
    return {name for name, is_there in there.items() if is_there} | {
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
        number=lambda value: f"{value:,}", cut=cut, gap=gap_reason, differences=differences, told=_told
    )
    return environment


def _told(event: EventRef, timeline: Timeline) -> str:
    """A witness with all of its values, or with its key where the stream does not hold it."""
    if event.offset is None or event.index is None:
        return cut(str(event))
    place = (event.topic, event.partition, event.offset, event.index)
    return timeline.witnesses.get(place) or cut(str(event))
