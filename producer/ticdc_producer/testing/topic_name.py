"""Names of topics that no two tests share, even where several runs use one Kafka."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256

_LONGEST_TEST = 120
"""Characters of the test's id; Kafka allows 249 in all."""
_LONGEST_ROUTED = 60


def topic_name(test: str, *, run: str, worker: str) -> str:
    """The topic of one test.

    :param test: the test's node id.
    :param run: of the pytest run; the topics of an earlier run may still be there.
    :param worker: of pytest-xdist; empty without it.
    """
    readable = _plain(test)[-_LONGEST_TEST:].strip("-")
    return "-".join(part for part in ("ticdc", run, worker, readable, _digest(test)) if part)


def own_topics(topics: Iterable[str], default: str, name: str) -> Mapping[str, str]:
    """A scenario's topics to those of one test.

    :param topics: every topic that the dispatch rules lead to.
    :param default: the one of the sink URI, which becomes ``name``; others get longer names.
    """
    return {topic: name if topic == default else f"{name}-{_routed(topic)}" for topic in {*topics, default}}


def _routed(topic: str) -> str:
    return f"{_plain(topic)[:_LONGEST_ROUTED].strip('-')}-{_digest(topic)}"


def _plain(text: str) -> str:
    # Kafka's metrics take a dot for an underscore, so topics that differ in these alone collide.
    return re.sub(r"[^A-Za-z0-9_]+", "-", text)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]
