"""Names of topics that are unique per test, even if several runs use the same Kafka."""

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
    :param run: identifies the pytest run; topics of an earlier run may still exist.
    :param worker: the worker's name in pytest-xdist; empty without it.
    """
    readable = _plain(test)[-_LONGEST_TEST:].strip("-")
    return "-".join(part for part in ("ticdc", run, worker, readable, _digest(test)) if part)


def own_topics(topics: Iterable[str], default: str, name: str) -> Mapping[str, str]:
    """Topic of the scenario → topic of the test.

    :param topics: every topic that the dispatch rules lead to.
    :param default: the sink URI's topic, which is mapped to ``name``; others get longer names.
    """
    return {topic: name if topic == default else f"{name}-{_routed(topic)}" for topic in {*topics, default}}


def _routed(topic: str) -> str:
    return f"{_plain(topic)[:_LONGEST_ROUTED].strip('-')}-{_digest(topic)}"


def _plain(text: str) -> str:
    # Kafka's metrics replace dots by underscores, so topics that differ only in these would collide.
    return re.sub(r"[^A-Za-z0-9_]+", "-", text)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]
