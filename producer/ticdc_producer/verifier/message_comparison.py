"""Compares messages: the canonical forms of their events where the bytes differ, and those without events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ticdc_producer.engine.dataset import Dataset, Engine
from ticdc_producer.hints import shortened
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.model.shapes import DECODED_WIRE
from ticdc_producer.verifier.comparison import (
    DIFFERENT,
    MAX_EXAMPLES,
    MISSING,
    UNEXPECTED,
    Comparison,
    Differences,
)
from ticdc_producer.verifier.events import EventID, Offset
from ticdc_producer.verifier.match import ExpectedStream, event_differences
from ticdc_producer.verifier.messages import Messages, events_at, rows_at
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.wire import (
    EventlessMessages,
    ExpectedMessages,
    Forms,
    WireDecoder,
    different_members,
    eventless_messages,
    nearest_form,
    unmatched,
)

_MAX_NEAR = 50
"""Expected messages among which the one most like a delivered message is searched."""
_MAX_TEXT = 200
_EVENTLESS = "messages without events"
_TOO_MANY = "there are too many different ones"


@dataclass(frozen=True)
class MessageComparison:
    """The comparison of messages.

    :param wire: reads their bytes.
    """

    engine: Engine
    wire: WireDecoder
    expected: ExpectedMessages
    delivered: Messages

    def compare_forms(self, differences: Differences, options: VerifyOptions) -> None:
        """Replace the differences of bytes by those of the canonical form."""
        if not differences.different:
            return
        decoded = self.delivered.rows.map(self.wire.decode, DECODED_WIRE)
        canonical = event_differences(self.engine, self.expected.canonical_events, decoded, options)
        differences.different, differences.partners = canonical.different, canonical.partners
        differences.examples.pop(DIFFERENT, None)
        differences.add_examples(DIFFERENT, canonical.examples.get(DIFFERENT, []))

    def different_members(self, partners: Mapping[EventID, EventID]) -> dict[EventID, str]:
        """Return the members in which events differ from their expected events, as text.

        The events of a message that cannot be divided have the canonical form of the whole message.

        :param partners: by delivered event the expected one.
        """
        if not partners:
            return {}
        due, came = self._expected_forms(partners.values()), self._delivered_forms(partners)
        return {
            event: different_members(due[partner], came.get(event) or came[(*event[:3], 0)])
            for event, partner in partners.items()
        }

    def _expected_forms(self, events: Iterable[EventID]) -> dict[EventID, bytes]:
        offsets = _offsets(events)
        return _forms_of(rows_at(self.expected.messages, offsets), self.expected.forms) if offsets else {}

    def _delivered_forms(self, events: Iterable[EventID]) -> dict[EventID, bytes]:
        offsets = _offsets(events)
        return _forms_of(self.delivered.at(offsets), self.wire.forms) if offsets else {}

    def with_eventless(self, comparison: Comparison) -> Comparison:
        """Return a comparison of events with the differences of the messages without events.

        The different messages of a topic are compared, whatever their number; their partitions are compared
        if the protocol's options fix them.
        """
        delivered = self.wire.delivered_eventless
        if self.wire.eventless is None or delivered is None:
            return comparison
        expected = eventless_messages(
            self.expected.eventless, self.wire.eventless, by_partition=delivered.by_partition
        )
        if not (expected.complete and delivered.complete):
            return replace(comparison, not_compared={**comparison.not_compared, _EVENTLESS: _TOO_MANY})
        return self._with(comparison, expected, delivered)

    def _with(
        self, comparison: Comparison, expected: EventlessMessages, delivered: EventlessMessages
    ) -> Comparison:
        missing, unexpected = unmatched(expected, delivered), unmatched(delivered, expected)
        if not missing and not unexpected:
            return comparison
        pairs = min(len(missing), len(unexpected))
        return replace(
            comparison,
            different=comparison.different + pairs,
            missing=comparison.missing + len(missing) - pairs,
            unexpected=comparison.unexpected + len(unexpected) - pairs,
            diff=(*comparison.diff, *self._lines(missing, unexpected)),
        )

    def _lines(self, missing: Sequence[Offset], unexpected: Sequence[Offset]) -> list[str]:
        """Return examples; each delivered message is compared with the expected one that is most like it."""
        due = self._expected_forms((*position, 0) for position in missing[:_MAX_NEAR])
        came = self._delivered_forms((*position, 0) for position in unexpected[:MAX_EXAMPLES])
        lines, rest = list[str](), dict(due)
        for position, form in came.items():
            if rest:
                nearest = nearest_form(form, [*rest.values()])
                rest = {key: other for key, other in rest.items() if other != nearest}
                lines.append(f"{DIFFERENT} {_location(position)}: {different_members(nearest, form)}")
            else:
                lines.append(f"{UNEXPECTED} {_location(position)}: {_text(form)}")
        if len(missing) > len(unexpected):
            first = [*rest.items()][:MAX_EXAMPLES]
            lines += [f"{MISSING} {_location(position)}: {_text(form)}" for position, form in first]
        return lines


def message_comparison(
    engine: Engine, wire: WireDecoder | None, expected: ExpectedStream, delivered: Messages
) -> MessageComparison | None:
    """Return what compares messages; None if decoded events alone are compared."""
    if wire is None or expected.wire is None:
        return None
    return MessageComparison(engine, wire, expected.wire, delivered)


def comparison_of(
    differences: Differences,
    expected: ExpectedStream,
    delivered: Mapping[EventID, DecodedRow],
    messages: MessageComparison | None,
) -> Comparison:
    """Return the result of a comparison.

    :param delivered: the delivered events that are examples.
    :param messages: compares the messages; None: decoded events alone are compared.
    """
    rows = expected.at(differences.expected_examples)
    if messages is None:
        return differences.comparison(rows, delivered)
    members = messages.different_members(differences.partners)
    comparison = differences.comparison(rows, delivered, members)
    return messages.with_eventless(replace(comparison, not_compared=dict(messages.wire.not_compared)))


def compare_events(
    engine: Engine,
    expected: ExpectedStream,
    decoded: Dataset,
    delivered: Messages,
    wire: WireDecoder | None = None,
) -> Comparison:
    """Compare expected events with decoded ones, without any other check.

    :param decoded: shape ``DECODED``, or ``DECODED_WIRE`` with ``wire``; messages that do not decode are
        ignored.
    :param delivered: the messages with these events.
    :param wire: reads what messages are compared by; None: decoded events alone are compared.
    """
    options = VerifyOptions()
    differences = event_differences(engine, expected.events, decoded, options)
    messages = message_comparison(engine, wire, expected, delivered)
    if messages is not None:
        messages.compare_forms(differences, options)
    return comparison_of(differences, expected, events_at(decoded, differences.delivered_examples), messages)


def _offsets(events: Iterable[EventID]) -> list[Offset]:
    """Return the positions of the messages of events, in ascending order."""
    return sorted({event[:3] for event in events})


def _forms_of(messages: Dataset, forms: Forms) -> dict[EventID, bytes]:
    """Return the canonical forms of the events of a few messages."""
    return {event: form for batch in messages.batches() for event, form in forms(batch).items()}


def _location(event: EventID) -> str:
    topic, partition, offset, _ = event
    return f"{topic}/{partition}@{offset} a message without events"


def _text(form: bytes) -> str:
    return shortened(form.decode(), _MAX_TEXT)
