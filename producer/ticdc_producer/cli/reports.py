"""The reports that ``run`` and ``verify`` write beside what they print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ticdc_producer.errors import ReportError

if TYPE_CHECKING:
    from ticdc_producer.reports.subject import FaultPlace, Subject
    from ticdc_producer.reports.timeline import Timeline
    from ticdc_producer.runs.verification import Judged
    from ticdc_producer.verifier.verdict import Verdict

JunitXml = Annotated[
    Path | None, typer.Option("--junit-xml", metavar="PATH", help="Write the verdict as JUnit XML, too.")
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="PATH", help="Write the verdict and a timeline as one HTML page, too."),
]


@dataclass
class Reports:
    """Reports that were asked for; nothing is computed for others.

    :param verified: whether there will be a verdict.
    :raises ReportError: if one of them could not be made or written in the end.
    """

    junit_xml: Path | None
    html: Path | None
    verified: bool = True
    _seen: Subject | None = field(default=None, init=False)
    _timeline: Timeline | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        from ticdc_producer.reports.extra import check_installed
        from ticdc_producer.reports.target import check_target

        for path in (self.junit_xml, self.html):
            if path is not None and not self.verified:
                raise ReportError("nothing will be verified, so there is nothing to report", path=str(path))
            if path is not None:
                check_target(path)
        if self.html is not None:
            check_installed(self.html)

    def observe(self, judged: Judged) -> None:
        """Note what a page needs while the stream is at hand."""
        from ticdc_producer.reports.subject import Subject

        feed = judged.changefeed
        self._seen = Subject(name=judged.scenario or feed.sink_uri.topic, protocol=feed.protocol)
        if self.html is not None:
            from ticdc_producer.reports.timeline_query import survey

            self._timeline = survey(judged.stream, judged.verdict.findings)

    def write(self, verdict: Verdict | None, faults: Iterable[Mapping[str, Any]] = ()) -> None:
        """Write what was asked for.

        :param faults: places of faults that were asked for, too.

        :raises ReportError: if a file cannot be written.
        """
        if verdict is None or self._seen is None:
            return
        if self.junit_xml is not None:
            from ticdc_producer.reports.junit import write_junit

            write_junit(self.junit_xml, self._seen, verdict)
        if self.html is not None and self._timeline is not None:
            from ticdc_producer.reports.html import write_html

            write_html(self.html, self._seen, verdict, self._timeline, _places(faults))


def _places(faults: Iterable[Mapping[str, Any]]) -> list[FaultPlace]:
    """The faults that have a place in the topic: a message lost at its end has none."""
    from ticdc_producer.reports.subject import FaultPlace

    names = FaultPlace.__slots__
    found = ({name: place[name] for name in names} for place in faults if place["offset"] is not None)
    return [FaultPlace(**place) for place in found]
