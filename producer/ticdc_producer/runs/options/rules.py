"""The combinations of options that are rejected, because one of them would have no effect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product

from ticdc_producer.errors import ArgumentError, ChangefeedError, ProducerError
from ticdc_producer.runs.options.commands import (
    COVERAGE,
    DECODE,
    DIFF,
    MASK,
    RECORD,
    RUN,
    TRANSCODE,
    VERIFY,
)
from ticdc_producer.runs.options.option import Option


@dataclass(frozen=True)
class OptionRule:
    """A combination that is rejected.

    :param given: what is given: options, and the kind of the sink.
    :param absent: options of which none is given.
    :param parameter: the key of the changefeed that the error is about; empty: it is about options.
    """

    what: str
    given: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    hint: str = ""
    parameter: str = ""

    def error(self) -> ProducerError:
        """Return the error, which speaks Python."""
        names = re.findall(r"`(\w+)`", f"{self.what} {self.hint}")
        if self.parameter:
            return ChangefeedError(self.what, parameter=self.parameter, hint=self.hint).about(*names)
        return ArgumentError(self.what, argument=names[0], hint=self.hint).about(*names)


def _apart(
    options: Iterable[str], others: Iterable[str], hint: str = "", key: str = ""
) -> Iterator[OptionRule]:
    for option, other in product(options, others):
        name = other if other in (STORAGE, PULSAR, GOLDEN, SCENARIO) else f"`{other}`"
        yield OptionRule(f"`{option}` cannot be combined with {name}", (option, other), (), hint, key)


def _requires(options: Iterable[str], other: str, hint: str = "", key: str = "") -> Iterator[OptionRule]:
    for option in options:
        yield OptionRule(f"`{option}` requires `{other}`", (option,), (other,), hint, key)


def _sources(*names: str, of: tuple[str, ...] = ()) -> Iterator[OptionRule]:
    """Yield the rules that exactly one source is given, if the options ``of`` are."""
    *first, last = (f"`{name}`" for name in names)
    what = f"give exactly one source: {', '.join(first)} or {last}"
    for given, absent in [((), names), *((pair, ()) for pair in combinations(names, 2))]:
        yield OptionRule(what, (*of, *given), absent, parameter="sink-uri")
    yield from _apart(["config"], ["folder"], "a golden folder contains its changefeed", "config")


def _of_command(*options: Option) -> Iterator[OptionRule]:
    yield from _apart([option.name for option in options if option.local], ["server"])
    hint = "or set it in the changefeed file: [sink] schema-registry"
    yield from _requires(["schema_registry"], "sink_uri", hint, "schema-registry")


STORAGE, BROKER, EMBEDDED, PULSAR = "a storage sink", "a broker", "an embedded broker", "a Pulsar sink"
"""The kinds of sinks."""
GOLDEN, SCENARIO = "a golden folder", "a scenario"
_ADDS = "a run adds its messages to the topics of Pulsar"
_OF_TOPICS = "it applies to topics and golden folders"
_STORED_MESSAGES = (
    *_apart(["messages"], ["folder"], "a golden folder contains its messages"),
    *_requires(["messages"], "sink_uri", "it names the protocol and its options; no broker is asked"),
)
_STORED = (*_STORED_MESSAGES, *_sources("sink_uri", "folder"))
_KEY = next(_requires(["key"], "table", "a key is one of a table"))
_EMPTY = "kafka://HOST:PORT/TOPIC; an embedded broker starts empty"
# fmt: off
RULES: dict[str, tuple[OptionRule, ...]] = {
    "run": (
        *_of_command(*RUN),
        *_apart(["rate", "speed"], [
            option.name for option in RUN
            if "run" in option.functions and "run_realtime" not in option.functions]),
        *_requires(["duration"], "rate"),
        *_apart(["rate"], ["speed"], "choose one of them"),
        *_apart(["watch"],
            ["rate", "speed", "append", "keep", "resume", "dry_run", "messages_only", "junit_xml", "html"]),
        *_apart(["messages_only"], ["dry_run", "state_at"], "it writes nothing but messages"),
        OptionRule("`state_at` requires `out`", ("state_at",), ("out", "watch"),
            "the state is written to a golden folder"),
        *_apart(["out", "append", "replace", "resume", "keep", "messages_only", "state_at", "inject"],
            [STORAGE], _OF_TOPICS),
        *_apart(["out", "append", "replace", "resume", "keep", "state_at"], [PULSAR], _ADDS),
        *_apart(["append", "resume"], ["replace"], "choose one of them"),
        *_apart(["append", "replace", "keep"], ["dry_run"], "a dry run writes nothing"),
        OptionRule("`replace` requires `out`, or a sink URI with a broker", ("replace", EMBEDDED), ("out",),
            _EMPTY),
        OptionRule("`append` cannot be combined with `out`", ("append", "out", EMBEDDED),
            hint="the sink URI names no host, so only the folder is written"),
        OptionRule("`append` requires a sink URI with a broker", ("append", EMBEDDED), hint=_EMPTY),
        OptionRule("`keep` applies to the embedded broker, which this run does not start", ("keep", BROKER),
            hint="the brokers of the sink URI keep running anyway"),
        OptionRule("`resume` requires a sink URI with a broker", ("resume", EMBEDDED), parameter="sink-uri",
            hint="kafka://HOST:PORT/TOPIC; embedded brokers and folders always start empty"),
    ),
    "verify": (
        *_of_command(*VERIFY),
        *_STORED,
        *_requires(
            ["start_ts", "target_ts", "state_at", "overrides", "inject", "faults"], "scenario",
            "add `scenario`"),
        *_requires(["checkpoint", "findings", "idle", "metrics_port", "window"], "follow", "add `follow`"),
        *_requires(["metrics_host"], "metrics_port", "add `metrics_port`"),
        *_requires(["follow"], "sink_uri", "only a topic of a broker can be followed"),
        *_apart(["follow"], ["messages", "scenario", "junit_xml", "html", "server"],
            "the stream is verified without an end; verify it again when it is complete"),
        *_apart(["messages", "strict_table_order", "state_at", "from_beginning", "resolved_gap_ms", "inject"],
            [STORAGE], _OF_TOPICS),
    ),
    "record": (
        *_STORED_MESSAGES,
        *_sources("sink_uri", "folder", "binlog"),
        _KEY,
        *_apart(["key", "since", "schema", "skip_damaged", "mask", "config", "kafka_properties"], ["binlog"],
            "it applies to messages"),
    ),
    "transcode": (
        *_STORED,
        _KEY,
        OptionRule("give a target: `to_sink_uri`, `out` or both", (), ("to_sink_uri", "out")),
        OptionRule("`to_sink_uri` names no broker", (EMBEDDED,), ("out",),
            "kafka://HOST:PORT/TOPIC, or add `out`"),
        *_requires(["follow"], "checkpoint", "name a file"),
        *_requires(["checkpoint", "idle"], "follow", "add `follow`"),
        *_requires(["follow"], "sink_uri", "only a topic of a broker can be followed"),
        *_requires(["follow"], "to_sink_uri", "topics of a broker are written"),
        *_apart(["follow"],
            ["folder", "messages", "key", "since", "until", "skip_damaged", "mask", "out", "replace",
             "faults", "verify_output"],
            "a topic that grows is written from its beginning, each event once"),
    ),
    "coverage": tuple(_sources("sink_uri", "folder")),
    "mask": (
        *_apart(["suggest"], ["rules", "out"], "rules are printed, and nothing is masked"),
        *_requires(["sink_uri", "folder", "messages", "config", "kafka_properties"], "suggest",
            "a dump is masked without it"),
        *(OptionRule("give `dump`, `rules` and `out`, or `suggest`", (), ("suggest", name))
            for name in ("dump", "rules", "out")),
        *_apart(["messages", "config", "kafka_properties"], ["dump"], "it applies to messages"),
        *_STORED_MESSAGES,
        *_sources("sink_uri", "folder", "dump", of=("suggest",)),
    ),
    "diff": (
        *_apart(["config_a", "config_b"], [GOLDEN, SCENARIO], "it contains its changefeed"),
        *_apart(["messages_a", "messages_b"], [GOLDEN, SCENARIO, STORAGE], "name the topic by its sink URI"),
    ),
    "decode": (*_of_command(*DECODE), *_sources("sink_uri", "folder", "file")),
}
"""By command, in the order of the checks."""
# fmt: on
_OPTIONS = {
    command: {option.name: option for option in options}
    for command, options in {
        "run": RUN,
        "verify": VERIFY,
        "record": RECORD,
        "transcode": TRANSCODE,
        "coverage": COVERAGE,
        "mask": MASK,
        "diff": DIFF,
        "decode": DECODE,
    }.items()
}  # fmt: skip


def check_options(command: str, values: Mapping[str, object], sink: str = "") -> None:
    """Reject options that cannot be combined or would have no effect, and values of another type.

    :param command: a command with rules.
    :param values: the options by name; also arguments, of which None is not given.
    :param sink: the kind of the sink; empty: it is not known yet.
    :raises ProducerError: for the first value of another type, or the first rule that they break.
    """
    options = _OPTIONS[command]
    for name, value in values.items():
        if name in options:
            options[name].check(value)
    given = {sink} | {
        name
        for name, value in values.items()
        if (options[name].is_given(value) if name in options else value is not None)
    }
    for rule in RULES[command]:
        if given.issuperset(rule.given) and given.isdisjoint(rule.absent):
            raise rule.error()
