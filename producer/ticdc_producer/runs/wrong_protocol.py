"""Messages that were decoded with another protocol than their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.protocols.registry import detect_protocol
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.invariants.events import FRAME

_SAMPLE = 100
"""Messages from which the protocol is detected."""


def with_protocol_hint(
    findings: Sequence[Finding],
    kinds: Mapping[str, int],
    protocol: str,
    messages: Dataset,
) -> list[Finding]:
    """Return the findings; if most messages do not decode, that of INV-FRAME names the detected protocol.

    :param kinds: events by kind; a message that does not decode is an ``error``.
    :param protocol: with which they were decoded.
    :param messages: all of them (shape ``MESSAGES``); read only if most do not decode.
    """
    decoded = sum(kinds.get(kind, 0) for kind in ("row", "ddl", "resolved"))
    if kinds.get("error", 0) <= decoded:
        return list(findings)
    likely = likely_protocol(messages)
    if likely in (None, protocol):
        return list(findings)
    hint = protocol_hint(likely, protocol)
    return [replace(finding, hint=hint) if finding.id == FRAME.id else finding for finding in findings]


def protocol_hint(likely: str | None, protocol: str) -> str:
    """Return what to do about messages that have another protocol.

    :param likely: the protocol that they look like.
    :param protocol: with which they were decoded.
    """
    return f"the messages look like {likely}, and were decoded as {protocol}: set protocol={likely}"


def likely_protocol(messages: Dataset) -> str | None:
    """Return the protocol of most of the first messages; None if it cannot be detected."""
    batches = messages.select("key", "value").batches()
    rows = islice((row for batch in batches for row in batch.slice(0, _SAMPLE).to_pylist()), _SAMPLE)
    protocols = Counter(detect_protocol(row["key"], row["value"]) for row in rows)
    (likely, _), *_ = protocols.most_common(1) or [(None, 0)]
    return likely
