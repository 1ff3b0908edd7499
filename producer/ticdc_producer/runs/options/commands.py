"""The options of each command.

The options of the commands, the fields of the service's requests and the tables of docs/python.md are made of
these declarations. The signatures of the Python functions repeat name, type and default, for their users and
for type checkers; a test compares them. ``rules`` has the combinations that are rejected.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from ticdc_producer.engine import EngineOption
from ticdc_producer.runs.options.option import Option

_RUNS = ("run", "run_realtime", "run_changes")
_OF_SCENARIOS = ("run", "run_realtime")
_AT_ONCE = ("run", "run_changes")
_VERIFICATIONS = ("verify", "follow")
_ALL = (*_RUNS, *_VERIFICATIONS, "record")
_COMMAND = ()
_FOLLOW = ("follow",)
_TRANSCODE = ("transcode",)
_GROWING = ("transcode_growing",)
FaultsOption: TypeAlias = Literal["recorded", "none"]

# fmt: off
SINK_URI = Option("sink_uri", str | None, None, "TiCDC's: "
    "kafka://HOST:PORT/TOPIC?protocol=open-protocol&partition-num=3, file:///DIR?protocol=csv",
    metavar="URI", functions=_ALL, field="sink_uri")
CONFIG = Option("config", Path | None, None, "Changefeed file of TiCDC.",
    metavar="TOML", functions=_ALL, field="config")
FOLDER = Option("folder", Path | None, None, "A golden folder.",
    flags=("--in",), metavar="DIR", functions=("verify",))
MESSAGES = Option("messages", Path | None, None,
    "A file with the messages of the topic, read in place of it: lines of messages.jsonl, of kcat -J, or of "
    "Kafka's console consumer.", metavar="FILE", functions=("verify",), local=True)
OVERRIDES = Option("overrides", list[str], (), "Set any key of the scenario.", "may be repeated",
    flags=("--set",), metavar="PATH=VALUE", functions=_OF_SCENARIOS, field="overrides")
STATE_AT = Option("state_at", list[int], (), "Also write the expected state at this TSO.", "requires `out`",
    metavar="TS", field="state_at")
START_TS = Option("start_ts", str | None, None,
    "Send only what commits after this time, and write a snapshot; replaces that of the scenario.",
    metavar="TSO|TIME", field="start_ts")
TARGET_TS = Option("target_ts", str | None, None,
    "Send only what commits up to this time; replaces that of the scenario.",
    metavar="TSO|TIME", field="target_ts")
INJECT = Option("inject", list[str], (), "Inject a trap of `traps list`.", "may be repeated",
    metavar="TRAP[:rate=R]", field="traps")
FAULTS = Option("faults", FaultsOption, "recorded",
    "recorded: what came again in a recorded topic comes again; none: once.", functions=_OF_SCENARIOS,
    local=True)
ENGINE = Option("engine", EngineOption, "auto",
    "local: in this process; spark: in Spark's tasks; auto: in Spark's tasks if the work is large.",
    functions=(*_RUNS, *_VERIFICATIONS), local=True)
SCHEMA_REGISTRY = Option("schema_registry", str | None, None,
    "Schema registry for Avro; sets schema-registry of the sink URI, which is required.",
    metavar="URL", functions=_COMMAND, local=True)
KAFKA_PROPERTIES = Option("kafka_properties", list[str], (),
    "A property of the Kafka clients, as librdkafka spells it.", "may be repeated",
    flags=("-X",), metavar="NAME=VALUE", functions=_ALL, local=True)
AS_JSON = Option("as_json", bool, False, "Print the result as JSON.", flags=("--json",), functions=_COMMAND)
JUNIT_XML = Option("junit_xml", Path | None, None, "Also write the verdict as JUnit XML.",
    metavar="PATH", functions=_COMMAND)
HTML = Option("html", Path | None, None, "Also write the verdict and a timeline as one HTML page.",
    metavar="PATH", functions=_COMMAND)
QUIET = Option("quiet", bool, False, "Print only errors and the verdict.",
    flags=("--quiet", "-q"), functions=_COMMAND)
SERVER = Option("server", str | None, None, "Let a running `ticdc-producer serve` do the work.",
    metavar="URL", functions=_COMMAND)

RUN = (
    SINK_URI, CONFIG,
    Option("out", Path | None, None, "Golden folder to write; must not exist, or be empty.",
        metavar="DIR", functions=_AT_ONCE),
    OVERRIDES,
    Option("seed", int | None, None, "Replaces the scenario's seed.",
        metavar="N", functions=_OF_SCENARIOS, field="seed"),
    Option("append", bool, False, "Write after the messages that a topic already holds.",
        functions=_RUNS, field="append"),
    Option("replace", bool, False, "Delete the topic and the golden folder of `out` first, if they exist.",
        field="replace"),
    Option("resume", bool, False, "Continue an earlier run of the same scenario that did not finish.",
        functions=_AT_ONCE, local=True),
    Option("dry_run", bool, False, "Encode and count, write nothing.", functions=_AT_ONCE, field="dry_run"),
    Option("keep", bool, False, "Leave the embedded broker running; also together with `out`.",
        functions=_RUNS, local=True),
    Option("watch", bool, False,
        "Run again whenever the scenario, a file that it reads or that of `config` is saved, and print what"
        " changed; implies `replace`.",
        functions=_COMMAND),
    Option("rate", str | None, None, "Run in real time: row changes per time, such as 5000/s or 300/m.",
        metavar="N/s", functions=("run_realtime",), local=True),
    Option("speed", float | None, None, "Run in real time: how many times as fast as the scenario's clock.",
        metavar="N", functions=("run_realtime",), local=True),
    Option("duration", str | None, None, "Length of a run with `rate`: 10m, 1h30m.",
        metavar="TIME", functions=("run_realtime",), local=True),
    START_TS, TARGET_TS, STATE_AT,
    Option("messages_only", bool, False, "Write only messages, in one pass, and do not verify them.",
        flags=("--only",), value="messages", local=True),
    INJECT,
    FAULTS,
    Option("verify_output", bool, True, "Read the written messages again and verify them.",
        flags=("--verify/--no-verify",), spelled="--no-verify", field="verify"),
    ENGINE, SCHEMA_REGISTRY, KAFKA_PROPERTIES,
    Option("preview", Literal["events", "log"], "events",
        "The first events as `decode` prints them, or as the log in TiCDC's documentation of Open Protocol.",
        functions=_COMMAND, spelled="--preview log", local=True),
    AS_JSON, JUNIT_XML, HTML, QUIET, SERVER,
)
"""In the order of the help of ``run``."""

FOLLOW = (
    Option("follow", bool, False, "Verify a topic while it grows, until Ctrl-C; findings as they happen.",
        functions=_COMMAND, local=True),
    Option("checkpoint", Path | None, None, "A file from which an interrupted `follow` continues.",
        metavar="FILE", functions=_FOLLOW, local=True),
    Option("findings", Path | None, None, "A file that gets each finding once, as a JSON line.",
        "requires `follow`", metavar="FILE", functions=_FOLLOW, local=True),
    Option("idle", float | None, None, "End `follow` after this number of seconds without a message.",
        metavar="SECONDS", functions=_FOLLOW, local=True),
    Option("metrics_port", int | None, None, "Port on which Prometheus reads lags and counts of `follow`.",
        metavar="PORT", minimum=1, functions=_FOLLOW, local=True),
    Option("metrics_host", str, "127.0.0.1", "Address of the interface with `metrics_port`.",
        metavar="HOST", functions=_FOLLOW, local=True),
    Option("window", int, 20_000, "Events that `follow` compares later ones with.",
        metavar="N", minimum=1000, functions=_FOLLOW, local=True),
)
"""The options of ``verify --follow``."""
VERIFY = (
    SINK_URI, FOLDER, MESSAGES,
    Option("scenario", str | None, None, "Also compare with this scenario.",
        metavar="SCENARIO", functions=("verify",)),
    CONFIG,
    replace(OVERRIDES, help="Set a key of the scenario.", note="", functions=("verify",)),
    Option("strict_table_order", bool, False, "Require commit-ts order per table under every dispatch rule.",
        functions=_VERIFICATIONS, field="strict_table_order"),
    replace(INJECT, help="A trap that was injected into the topic.", functions=("verify",)),
    replace(FAULTS, help="As for the `run` that wrote the topic, of a recording.", functions=("verify",)),
    replace(START_TS, help="The changefeed's start-ts; replaces that of the scenario.",
        note="requires `scenario`", functions=("verify",)),
    replace(TARGET_TS, help="The changefeed's target-ts; replaces that of the scenario.",
        note="requires `scenario`", functions=("verify",)),
    replace(STATE_AT, help="Also compare the rows at this TSO.", note="requires `scenario`; may be repeated",
        functions=("verify",)),
    Option("from_beginning", bool, False, "The stream starts at the creation of its tables and omits "
        "nothing: a row without its insert, a gap in its history or a missing DDL is an error.",
        functions=_VERIFICATIONS, field="from_beginning"),
    Option("resolved_gap_ms", int | None, None, "Report longer gaps between resolved-ts.",
        metavar="MS", minimum=0, functions=_VERIFICATIONS, field="resolved_gap_ms"),
    *FOLLOW,
    Option("examples", int, 3, "Examples of each violated invariant.",
        metavar="N", minimum=1, functions=_VERIFICATIONS, field="examples"),
    ENGINE, SCHEMA_REGISTRY, KAFKA_PROPERTIES, AS_JSON, JUNIT_XML, HTML, QUIET, SERVER,
)
"""In the order of the help of ``verify``."""

_TABLES = Option("tables", list[str], (), "Compare this table; * matches any characters.", "may be repeated",
    flags=("--table",), metavar="SCHEMA.TABLE", functions=("diff",))
DIFF = (
    *(Option(f"config_{side}", Path | None, None, f"Changefeed file of TiCDC for {side.upper()}.",
        metavar="TOML", functions=("diff",)) for side in "ab"),
    *(Option(f"messages_{side}", Path | None, None,
        f"A file with the messages of topic {side.upper()}, read in place of it: lines of messages.jsonl, of "
        "kcat -J, or of Kafka's console consumer.", metavar="FILE", functions=("diff",)) for side in "ab"),
    _TABLES,
    Option("examples", int, 3, "Examples of each table.", metavar="N", minimum=1, functions=("diff",)),
    replace(ENGINE, functions=("diff",), local=False),
    replace(KAFKA_PROPERTIES, functions=("diff",), local=False),
    AS_JSON, QUIET,
)
"""In the order of the help of ``diff``."""
RECORD = (
    SINK_URI,
    replace(FOLDER, functions=("record",)),
    Option("binlog", str | None, None, "Record the binlog of a server of MariaDB or MySQL.",
        flags=("--from-binlog",), metavar="URL", functions=("record",)),
    replace(MESSAGES, functions=("record",)),
    CONFIG,
    Option("table", list[str], (), "Record these tables only: a filter rule of TiCDC, such as shop.*.",
        "may be repeated", metavar="RULE", functions=("record",)),
    Option("key", list[str], (), "Record this row only: the values of its handle key, id=5 or a=1,b=x.",
        "may be repeated; requires `table`", metavar="COLUMN=VALUE", functions=("record",)),
    Option("since", str | None, None, "Record what commits after this TSO or time, or after these offsets, "
        "such as 0:120,1:80. Rows that existed before are the snapshot of the scenario.",
        flags=("--from",), metavar="OFFSETS|TS", functions=("record",)),
    Option("until", str | None, None, "The last commit that is recorded: a TSO or a time, or offsets: that "
        "of the last event before them.", metavar="OFFSETS|TS", functions=("record",)),
    Option("schema", str | None, None, "A dump with the CREATE TABLE statements of tables that existed "
        "before the first message, or the URL of a database, mysql://USER:PASSWORD@HOST:PORT/DATABASE.",
        metavar="SQL|URL", functions=("record",)),
    Option("skip_damaged", bool, False, "Leave out messages that cannot be recorded, and count them. "
        "Those that do not decode are faults of the recording.",
        functions=("record",)),
    Option("mask", Path | None, None, "A rules file: values of its columns are replaced before anything is "
        "stored.", metavar="YAML", functions=("record",)),
    Option("shrink", str | None, None, "Shrink the recording to an SQL scenario while this command fails, "
        "which gets its folder.", "`folder` may be a recording", metavar="CMD", functions=_COMMAND),
    replace(ENGINE, help="local, auto: in this process, with a bounded number of rows in memory; spark is "
        "refused.", functions=("record",), local=False),
    SCHEMA_REGISTRY, KAFKA_PROPERTIES, AS_JSON, QUIET,
)
"""In the order of the help of ``record``."""
STATE = (
    Option("at_ts", int | None, None, "Compare the state at this TSO; the folder must contain it.",
        flags=("--at",), metavar="TS", functions=("verify_state",)),
    replace(_TABLES, functions=("verify_state",)),
    Option("table_map", list[str], (), "The consumer's name of a table.", "may be repeated",
        flags=("--map",), metavar="SCHEMA.TABLE=NAME", functions=("verify_state",)),
    Option("ignore_columns", list[str], (), "Do not compare this column.", "may be repeated",
        flags=("--ignore-column",), metavar="[SCHEMA.TABLE.]COLUMN", functions=("verify_state",)),
    Option("protocol", str | None, None,
        "Allow for what this protocol does not carry. Default: the folder's protocol.",
        metavar="P", functions=("verify_state",)),
    Option("examples", int, 10, "Rows to print per kind and table.",
        metavar="N", minimum=0, functions=("verify_state",)),
    AS_JSON, JUNIT_XML, QUIET,
)
"""In the order of the help of ``verify state``, after ``expected`` and ``actual``."""
COVERAGE = (
    *(replace(option, functions=("coverage",)) for option in
        (SINK_URI, FOLDER, CONFIG, KAFKA_PROPERTIES, ENGINE)),
    AS_JSON,
)
"""In the order of the help of ``coverage``."""
MASK = (
    Option("rules", Path | None, None, "The rules file, as for record --mask.",
        metavar="YAML", functions=("mask",)),
    Option("out", Path | None, None, "The dump to write; must not exist.",
        metavar="FILE", functions=("mask",)),
    Option("suggest", bool, False, "Print a rules file instead: of the dump, or of a topic.",
        functions=_COMMAND),
    *(replace(option, functions=("suggest_rules",)) for option in
        (SINK_URI, FOLDER, MESSAGES, CONFIG, KAFKA_PROPERTIES)),
)
"""In the order of the help of ``mask``, after ``dump``."""
DECODE = (
    replace(SINK_URI, functions=("decode",)), replace(FOLDER, functions=("decode",)),
    Option("protocol", str | None, None, "Default: that of `sink_uri`, `config` or `folder`, else detected.",
        metavar="P", functions=("decode",)),
    replace(CONFIG, functions=("decode",)), SCHEMA_REGISTRY, replace(KAFKA_PROPERTIES, functions=("decode",)),
    Option("form", Literal["text", "jsonl"], "text", "One line per event, or the format of events.jsonl.",
        flags=("--format",), functions=_COMMAND),
    SERVER,
)
"""In the order of the help of ``decode``, after ``file``."""
_OF_RUN = {option.name: option for option in RUN}
_OF_GROWING = {"sink_uri", "config", "table", "schema", "kafka_properties", "append", "engine"}
"""The options of ``record`` and ``run`` that ``transcode_growing`` has, too."""


def _of_transcoding(option: Option) -> Option:
    growing = _GROWING if option.name in _OF_GROWING else ()
    return replace(option, functions=(*_TRANSCODE, *growing))


TRANSCODE = (
    *(_of_transcoding(option) for option in RECORD
        if option.functions and option.name not in ("binlog", "engine")), SCHEMA_REGISTRY,
    Option("to_sink_uri", str | None, None, "The sink URI of what is written, with its protocol; by default "
        "the source's, without brokers.", metavar="URI", functions=(*_TRANSCODE, *_GROWING)),
    Option("to_config", Path | None, None, "Changefeed file of TiCDC of what is written; its keys replace "
        "those of the source.", metavar="TOML", functions=(*_TRANSCODE, *_GROWING)),
    *(_of_transcoding(_OF_RUN[name]) for name in
        ("out", "append", "replace", "faults", "verify_output", "engine")),
    Option("to_kafka_properties", list[str], (),
        "A property of the Kafka clients that write, as librdkafka spells it.", "may be repeated",
        flags=("--to-X",), metavar="NAME=VALUE", functions=(*_TRANSCODE, *_GROWING)),
    Option("follow", bool, False, "Write a topic while it grows, until Ctrl-C, each message once.",
        functions=_COMMAND),
    Option("checkpoint", Path | None, None, "A file with what was written, from which `follow` continues.",
        metavar="FILE", functions=_GROWING),
    replace(next(option for option in FOLLOW if option.name == "idle"), functions=_GROWING, local=False),
    AS_JSON, QUIET,
)
"""In the order of the help of ``transcode``."""
# fmt: on
