"""The combinations of fields of the service's requests that are rejected; and of the options of ``serve``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ticdc_producer.runs.options.rule import OptionRule, apart

_SOURCES = ("scenario", "sql", "yaml")


def _at_most_one(kind: str, number: str = "at most one") -> Iterator[OptionRule]:
    for pair in combinations(_SOURCES, 2):
        yield OptionRule(f"a {kind} has {number} of `scenario`, `sql` and `yaml`", pair)


def _exactly_one(kind: str) -> Iterator[OptionRule]:
    yield OptionRule(f"a {kind} has exactly one of `scenario`, `sql` and `yaml`", (), _SOURCES)
    yield from _at_most_one(kind, "exactly one")


REQUEST_RULES: dict[str, tuple[OptionRule, ...]] = {
    "run": (
        *_exactly_one("run"),
        *apart(["sink_uri"], ["protocol", "options", "partitions", "topic"], "the sink URI contains it"),
    ),
    "preview": tuple(_exactly_one("preview")),
    "verification": tuple(_at_most_one("verification")),
}
"""By the kind of the request, in the order of the checks."""
SERVE_RULES = (
    OptionRule(
        "`kafka_address` is of the embedded Kafka, and `kafka` names another one",
        ("kafka", "kafka_address"),
        hint="leave one out",
    ),
)
