"""Says which protocol messages look like that do not decode as the configured one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.protocols.registry import detect_protocol
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.invariants.framing import FRAME

_SAMPLE = 100
"""Messages that are looked at."""


def with_protocol_hint(
    findings: Sequence[Finding],
    kinds: Mapping[str, int],
    protocol: str,
    messages: Dataset,
) -> list[Finding]:
    """The findings; if most messages do not decode, that of INV-FRAME names the protocol of their bytes.

    :param kinds: events by kind; a message that does not decode is an ``error``.
    :param protocol: with which they were decoded.
    :param messages: all of them (shape ``MESSAGES``); read only if most do not decode.
    """
    decoded = sum(kinds.get(kind, 0) for kind in ("row", "ddl", "resolved"))
    if kinds.get("error", 0) <= decoded:
        return list(findings)
    likely = _likely_protocol(messages)
    if likely in (None, protocol):
        return list(findings)
    hint = f"the messages look like {likely}, and were decoded as {protocol}: set protocol={likely}"
    return [replace(one, hint=hint) if one.id == FRAME.id else one for one in findings]


def _likely_protocol(messages: Dataset) -> str | None:
    """The protocol of most of the first messages; None if it cannot be detected."""
    batches = messages.select("key", "value").batches()
    rows = islice((row for batch in batches for row in batch.slice(0, _SAMPLE).to_pylist()), _SAMPLE)
    found = Counter(detect_protocol(row["key"], row["value"]) for row in rows)
    (likely, _), *_ = found.most_common(1) or [(None, 0)]
    return likely
