"""The combinations of options that are rejected, because one of them would have no effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from ticdc_producer.runs.options import conformance
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
from ticdc_producer.runs.options.rule import (
    BROKER,
    EMBEDDED,
    GOLDEN,
    PULSAR,
    RECORDING,
    SCENARIO,
    STORAGE,
    OptionRule,
    apart,
    check_rules,
    requires,
)


def _sources(*names: str, of: tuple[str, ...] = ()) -> Iterator[OptionRule]:
    """Yield the rules that exactly one source is given, if the options ``of`` are."""
    *first, last = (f"`{name}`" for name in names)
    what = f"give exactly one source: {', '.join(first)} or {last}"
    for given, absent in [((), names), *((pair, ()) for pair in combinations(names, 2))]:
        yield OptionRule(what, (*of, *given), absent, parameter="sink-uri")
    yield from apart(["config"], ["folder"], "a golden folder contains its changefeed", "config")


def _of_command(*options: Option) -> Iterator[OptionRule]:
    yield from apart([option.name for option in options if option.local], ["server"])
    yield _REGISTRY


_IN_FILE = "or set it in the changefeed file: [sink] schema-registry"
_REGISTRY = next(requires(["schema_registry"], "sink_uri", _IN_FILE, "schema-registry"))
_ADDS = "a run adds its messages to the topics of Pulsar"
_OF_TOPICS = "it applies to topics and golden folders"
_STORED_MESSAGES = (
    *apart(["messages"], ["folder"], "a golden folder contains its messages"),
    *requires(["messages"], "sink_uri", "it names the protocol and its options; no broker is asked"),
)
_STORED = (*_STORED_MESSAGES, *_sources("sink_uri", "folder"))
_KEY = next(requires(["key"], "table", "a key is one of a table"))
_EMPTY = "kafka://HOST:PORT/TOPIC; an embedded broker starts empty"
# fmt: off
RULES: dict[str, tuple[OptionRule, ...]] = {
    "run": (
        *_of_command(*RUN),
        *apart(["rate", "speed"], [
            option.name for option in RUN
            if "run" in option.functions and "run_realtime" not in option.functions]),
        *requires(["duration"], "rate"),
        *apart(["rate"], ["speed"], "choose one of them"),
        *apart(["watch"],
            ["rate", "speed", "append", "keep", "resume", "dry_run", "messages_only", "junit_xml", "html"]),
        *apart(["messages_only"], ["dry_run", "state_at"], "it writes nothing but messages"),
        OptionRule("`state_at` requires `out`", ("state_at",), ("out", "watch"),
            "the state is written to a golden folder"),
        *apart(["out", "append", "replace", "resume", "keep", "messages_only", "state_at", "inject"],
            [STORAGE], _OF_TOPICS),
        *apart(["out", "append", "replace", "resume", "keep", "state_at"], [PULSAR], _ADDS),
        *apart(["append", "resume"], ["replace"], "choose one of them"),
        *apart(["append", "replace", "keep"], ["dry_run"], "a dry run writes nothing"),
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
        *requires(
            ["start_ts", "target_ts", "state_at", "overrides", "inject", "faults"], "scenario",
            "add `scenario`"),
        *requires(["checkpoint", "findings", "idle", "metrics_port", "window"], "follow", "add `follow`"),
        *requires(["metrics_host"], "metrics_port", "add `metrics_port`"),
        *requires(["follow"], "sink_uri", "only a topic of a broker can be followed"),
        *apart(["follow"], ["messages", "scenario", "junit_xml", "html", "server"],
            "the stream is verified without an end; verify it again when it is complete"),
        *apart(["messages", "strict_table_order", "state_at", "from_beginning", "resolved_gap_ms", "inject"],
            [STORAGE], _OF_TOPICS),
    ),
    "record": (
        *_STORED_MESSAGES,
        *_sources("sink_uri", "folder", "binlog"),
        _KEY,
        _REGISTRY,
        *(OptionRule(f"`{name}` applies to messages, and the folder is a recording", (name, RECORDING))
            for name in ("table", "key", "since", "until", "schema", "skip_damaged", "mask")),
        *apart(["key", "since", "schema", "skip_damaged", "mask", "config", "kafka_properties"], ["binlog"],
            "it applies to messages"),
    ),
    "transcode": (
        *_STORED,
        _KEY,
        _REGISTRY,
        OptionRule("give a target: `to_sink_uri`, `out` or both", (), ("to_sink_uri", "out")),
        OptionRule("`to_sink_uri` names no broker", (EMBEDDED,), ("out",),
            "kafka://HOST:PORT/TOPIC, or add `out`"),
        *requires(["follow"], "checkpoint", "name a file"),
        *requires(["checkpoint", "idle"], "follow", "add `follow`"),
        *requires(["follow"], "sink_uri", "only a topic of a broker can be followed"),
        *requires(["follow"], "to_sink_uri", "topics of a broker are written"),
        *apart(["follow"],
            ["folder", "messages", "key", "since", "until", "skip_damaged", "mask", "out", "replace",
             "faults", "verify_output"],
            "a topic that grows is written from its beginning, each event once"),
    ),
    "coverage": tuple(_sources("sink_uri", "folder")),
    "mask": (
        *apart(["suggest"], ["rules", "out"], "rules are printed, and nothing is masked"),
        *requires(["sink_uri", "folder", "messages", "config", "kafka_properties"], "suggest",
            "a dump is masked without it"),
        *(OptionRule("give `dump`, `rules` and `out`, or `suggest`", (), ("suggest", name))
            for name in ("dump", "rules", "out")),
        *apart(["messages", "config", "kafka_properties"], ["dump"], "it applies to messages"),
        *_STORED_MESSAGES,
        *_sources("sink_uri", "folder", "dump", of=("suggest",)),
    ),
    "diff": (
        *apart(["config_a", "config_b"], [GOLDEN, SCENARIO], "it contains its changefeed"),
        *apart(["messages_a", "messages_b"], [GOLDEN, SCENARIO, STORAGE], "name the topic by its sink URI"),
    ),
    "decode": (*_of_command(*DECODE), *_sources("sink_uri", "folder", "file")),
    "conformance": conformance.RULES,
    "golden": conformance.GOLDEN_RULES,
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
        "conformance": conformance.CONFORMANCE,
        "golden": (),
    }.items()
}


def check_options(command: str, values: Mapping[str, object], kind: str = "") -> None:
    """Reject options that cannot be combined or would have no effect, and values of another type.

    :param command: a command with rules.
    :param values: the options by name; also arguments, of which None is not given.
    :param kind: of the sink or the source, as the rules name it; empty: it is not known yet.
    :raises ProducerError: for the first value of another type, or the first rule that they break.
    """
    options = _OPTIONS[command]
    for name, value in values.items():
        if name in options:
            options[name].check(value)
    given = {kind} | {
        name
        for name, value in values.items()
        if (options[name].is_given(value) if name in options else value is not None)
    }
    check_rules(RULES[command], given)
