"""A verdict as JSON for the page, with the sentences that the reports share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ticdc_producer.hints import counted
from ticdc_producer.page.sample import EventPosition, cut
from ticdc_producer.reports.text import (
    differences,
    gap_reason,
    kinds,
    not_looked_at,
    run_summary,
    tables_compared,
    why_not_compared,
)
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.finding import EventRef, Finding
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import RequestedFaults, Verdict


def verdict_content(
    verdict: Verdict,
    requested: RequestedFaults | None = None,
    examples: Mapping[EventPosition, str] | None = None,
    injected: Mapping[str, int] | None = None,
) -> dict[str, object]:
    """Return a verdict for the page.

    :param requested: the faults of the run, of which the verdict must report the illegal ones; None: none.
    :param examples: events that findings name → text with their values.
    :param injected: number of injected faults by trap.
    """
    texts = examples or {}
    content = verdict.to_json()
    return {
        **{name: content[name] for name in ("ok", "checked", "kinds")},
        "summary": cut(run_summary(verdict, requested, gaps=False)),
        "lines": [*_lines(verdict, requested, injected or {})],
        "findings": [_finding(finding, texts) for finding in verdict.of_severity("error", "warning", "info")],
        "not_checked": [
            {"id": finding.id, "text": cut(gap_reason(finding))}
            for finding in verdict.of_severity("not checked")
        ],
        "differences": [*_differences(verdict)],
    }


def _finding(finding: Finding, texts: Mapping[EventPosition, str]) -> dict[str, object]:
    examples = [
        {
            "detail": cut(example.detail),
            "events": [_event(event, texts) for event in example.events],
        }
        for example in finding.examples
    ]
    return {**finding.to_json(), "hint": cut(finding.hint), "examples": examples}


def _event(event: EventRef, texts: Mapping[EventPosition, str]) -> dict[str, object]:
    names = ("topic", "partition", "offset", "commit_ts")
    location, text = event.location, _text(event, texts)
    return {
        **{name: getattr(event, name) for name in names},
        "location": cut(location),
        "text": text.removeprefix(f"{location} "),
    }


def _text(event: EventRef, texts: Mapping[EventPosition, str]) -> str:
    """Return an event with all of its values, or with its key only if they are not known."""
    if event.offset is None or event.index is None:
        return cut(str(event))
    return texts.get((event.topic, event.partition, event.offset, event.index)) or cut(str(event))


def _line(name: str, text: str, state: str = "") -> dict[str, str]:
    """Return a line of what was checked.

    :param state: ``fine``, ``wrong`` or ``warned``; empty: none of them.
    """
    return {"name": name, "text": cut(text), "state": state}


def _lines(
    verdict: Verdict, requested: RequestedFaults | None, injected: Mapping[str, int]
) -> Iterator[dict[str, str]]:
    yield _line("invariants", f"{len(verdict.checked)} on {kinds(verdict)}")
    for name, part in _parts(verdict):
        yield _compared(name, part)
    if missing := not_looked_at(verdict):
        yield _line("compared", missing, "warned")
    if injected:
        traps = ", ".join(f"{trap} ({count:,})" for trap, count in sorted(injected.items()))
        yield _line("faults", f"injected: {traps}")
    if requested is not None and (requested.may_cause or requested.not_injected):
        yield _requested(verdict, requested)


def _parts(verdict: Verdict) -> Iterator[tuple[str, Comparison | StateComparison]]:
    """Yield what was compared with what was expected, by its name."""
    if verdict.comparison is not None:
        yield "events", verdict.comparison
    if verdict.state is not None:
        yield "rows", verdict.state
    for ts, state in sorted(verdict.states.items()):
        yield f"rows at {ts}", state


def _compared(name: str, part: Comparison | StateComparison) -> dict[str, str]:
    reasons = why_not_compared(part)
    if isinstance(part, StateComparison):
        expected = part.rows
        as_expected = f"{expected:,} in {counted(part.tables, 'table')}, as expected"
        compared = f"{tables_compared(part)}; not {reasons}"
    else:
        expected = part.expected
        as_expected = f"all {expected:,} expected events came, in order"
        compared = f"not compared: {reasons}"
    text = as_expected if part.ok else f"{differences(part)}, of {expected:,} expected"
    if not part.not_compared:
        return _line(name, text, "fine" if part.ok else "wrong")
    return _line(name, f"{text}; {compared}", "warned" if part.ok else "wrong")


def _requested(verdict: Verdict, requested: RequestedFaults) -> dict[str, str]:
    if requested.detected(verdict):
        return _line(
            "requested", "every illegal fault was detected, and no other violation was found", "fine"
        )
    parts = [f"{trap} was not detected" for trap in requested.unnoticed]
    parts += [f"{trap} was not injected, because {why}" for trap, why in requested.not_injected.items()]
    parts.append(
        "illegal faults must be detected, and there must be no other violation"
        if requested.may_cause
        else "every requested fault must be injected"
    )
    return _line("requested", "; ".join(parts), "wrong")


def _differences(verdict: Verdict) -> Iterator[dict[str, object]]:
    for name, part in _parts(verdict):
        if not part.ok:
            yield {"name": name, "lines": [cut(line) for line in part.diff]}
