"""The signatures of Python, the requests of the service and the rules agree with the declared options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
import pytest

import ticdc_producer
from ticdc_producer.cli.options import error_text
from ticdc_producer.conformance.case_spec import Level
from ticdc_producer.errors import ProducerError
from ticdc_producer.runs.coverage import coverage
from ticdc_producer.runs.options.commands import (
    COVERAGE,
    DECODE,
    DIFF,
    MASK,
    RECORD,
    RUN,
    STATE,
    TRANSCODE,
    VERIFY,
)
from ticdc_producer.runs.options.conformance import CONFORMANCE, LevelOption
from ticdc_producer.runs.options.option import Option
from ticdc_producer.runs.options.rules import RULES, check_options
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.serve.submission import RunRequest, ScenarioOf, VerifyRequest

OF_PYTHON = {
    "run": {"scenario", "on_status", "on_progress", "on_verdict"},
    "run_realtime": {"scenario", "wall_clock", "on_status", "on_verdict"},
    "run_changes": {"changes", "tables", "name", "start", "every_ms", "on_status"},
    "verify": {"on_status", "on_verdict"},
    "diff": {"a", "b", "on_status"},
    "record": {"out", "on_status"},
    "transcode": {"on_status", "on_progress"},
    "verify_state": {"expected", "actual", "on_status"},
    "coverage": {"on_status"},
    "decode": {"file", "on_status"},
    "mask": {"dump"},
    "suggest_rules": {"dump", "on_status"},
    "follow": {"on_finding", "on_status"},
    "transcode_growing": {"on_status"},
}
"""The arguments that are no options."""
REQUIRED = {
    "mask": {"rules", "out"},
    "follow": {"sink_uri"},
    "transcode_growing": {"sink_uri", "to_sink_uri", "checkpoint"},
}
"""The options without a default in Python."""
DECLARED = {
    "verify": VERIFY, "diff": DIFF, "record": RECORD, "transcode": TRANSCODE,
    "verify_state": STATE, "coverage": COVERAGE, "decode": DECODE, "mask": MASK, "suggest_rules": MASK,
    "follow": VERIFY, "transcode_growing": TRANSCODE, "conformance": CONFORMANCE,
}  # fmt: skip
"""The options of functions other than those that run scenarios."""


def _function(name: str) -> Callable[..., object]:
    return coverage if name == "coverage" else cast("Callable[..., object]", getattr(ticdc_producer, name))


@pytest.mark.parametrize("function", OF_PYTHON)
def test_the_python_functions_have_the_declared_options(function: str) -> None:
    signature = inspect.signature(_function(function))
    declared = {option.name: option for option in DECLARED.get(function, RUN)}
    options = {option.name for option in declared.values() if function in option.functions}
    assert set(signature.parameters) == options | OF_PYTHON[function]
    required = REQUIRED.get(function, set())
    for name in options - {"table_map"}:  # a mapping has none
        default = inspect.Parameter.empty if name in required else declared[name].default
        assert signature.parameters[name].default == default, name


@pytest.mark.parametrize("function", OF_PYTHON)
def test_the_python_functions_take_values_of_the_declared_types(function: str) -> None:
    hints = get_type_hints(inspect.unwrap(_function(function)))
    for option in DECLARED.get(function, RUN):
        if function in option.functions and option.name != "table_map":  # pairs; in Python a mapping
            required = {NoneType} if option.name in REQUIRED.get(function, ()) else set()
            assert _alternatives(option.type) - required <= _alternatives(hints[option.name]), option.name


def _alternatives(hint: Any) -> set[Any]:
    """The types of a union; a list is a sequence."""
    if isinstance(hint, UnionType):
        return set(get_args(hint))
    return {Sequence[get_args(hint)] if get_origin(hint) is list else hint}


def test_the_levels_of_conformance_are_declared() -> None:
    assert get_args(LevelOption) == tuple(level.value for level in Level)


def test_the_options_of_a_job_have_the_declared_defaults() -> None:
    declared = {option.name: option.default for option in RUN}
    defaults = {field.name: field.default for field in fields(RunOptions) if field.default is not MISSING}
    same = declared.keys() & defaults.keys()
    assert len(same) == 9
    assert {name: defaults[name] for name in same} == {name: declared[name] for name in same}


@pytest.mark.parametrize(("request_type", "options"), [(RunRequest, RUN), (VerifyRequest, VERIFY)])
def test_requests_have_the_declared_fields(
    request_type: type[ScenarioOf], options: tuple[Option, ...]
) -> None:
    own = {"scenario", "sql", "yaml", "file"}
    own |= {"protocol", "options", "partitions", "dispatch", "topic", "scenario_topic"}
    declared = {option.field: option for option in options if option.field}
    assert request_type.model_fields.keys() - own == declared.keys()
    for name, option in declared.items():
        field = request_type.model_fields[name]
        assert field.is_required() or field.default == option.default, name
        assert field.description


@pytest.mark.parametrize("command", RULES)
def test_rules_name_options_of_their_command(command: str) -> None:
    options = {"run": RUN, **DECLARED}.get(command, VERIFY)
    names = {option.name for option in options} | {
        "decode": {"file"},
        "mask": {"dump"},
        "golden": {"out"},
    }.get(command, set())
    sinks = {"a storage sink", "a Pulsar sink", "a broker", "an embedded broker"}
    kinds = {*sinks, "a golden folder", "a scenario", "a recording", "the level restart"}
    for rule in RULES[command]:
        assert {*rule.given, *rule.absent} <= names | kinds
        assert set(re.findall(r"`(\w+)`", rule.what)) <= names
        assert "`" not in error_text(rule.error()), "the command line spells all options of the error"


ACCEPTED: list[tuple[str, dict[str, Any], str]] = [
    ("run", {"append": False, "replace": True, "state_at": [], "dry_run": False}, ""),
    ("run", {"replace": True, "out": "x"}, "an embedded broker"),
    ("run", {"append": True, "out": "x"}, "a broker"),
    ("run", {"state_at": [5], "watch": True}, ""),
    ("run", {"preview": "events", "verify_output": True, "server": True}, ""),
    ("verify", {"folder": "x", "scenario": "bank", "inject": ("lost-row",), "examples": 3}, ""),
]


@pytest.mark.parametrize(("command", "values", "sink"), ACCEPTED)
def test_options_that_fit_together(command: str, values: dict[str, Any], sink: str) -> None:
    check_options(command, values, sink)


_HERE, _EMBEDDED = {"server": True}, "an embedded broker"
REJECTED: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("run", {"rate": "5/s", "messages_only": True}, "", "`messages_only`", "combined with --only messages"),
    ("run", {"rate": "5/s", "verify_output": False}, "", "`verify_output`", "combined with --no-verify"),
    ("run", {"preview": "log", **_HERE}, "", "`preview`", "--preview log cannot be combined with --server"),
    ("run", {"kafka_properties": ["a=b"], **_HERE}, "", "`kafka_properties`", "-X cannot be combined with"),
    ("run", {"replace": True}, _EMBEDDED, "`out`, or a sink URI", "--replace requires --out, or a sink URI"),
    ("verify", {}, "", "`sink_uri` or `folder`", "give exactly one source: --sink-uri or --in"),
    ("transcode", {"folder": "x"}, "", "`to_sink_uri`", "give a target: --to-sink-uri, --out or both"),
    ("transcode", {"folder": "x", "to_sink_uri": "x"}, _EMBEDDED, "`to_sink_uri`", "names no broker"),
    ("decode", {"file": "x", "folder": "y"}, "", "`file`", "exactly one source: --sink-uri, --in or a file"),
    ("verify", {"sink_uri": "x", "state_at": [5]}, "", "`scenario`", "--state-at requires --scenario"),
    ("record", {"folder": "x", "schema_registry": "y"}, "", "`sink_uri`", "--schema-registry requires"),
    ("record", {"folder": "x", "since": "1:5"}, "a recording", "`since`", "--from applies to messages, and"),
    ("conformance", {"kafka": "x", "testee": "y"}, "", "`kafka`", "without restarts (add --level restart)"),
    ("conformance", {"only": ["*"]}, "", "`listing`", "conformance requires --testee or --list"),
    ("conformance", {"replay": "x", "listing": True}, "", "`listing`", "--list is an option of written"),
    ("golden", {}, "", "`out`", "golden requires --out"),
    ("golden", {"out": "x"}, "the level restart", "`level`", "leave --level restart out"),
    ("mask", {"dump": "x", "rules": "y", "suggest": True}, "", "`rules`", "--suggest cannot be combined"),
    ("mask", {"dump": "x", "rules": "y"}, "", "`out`", "give a dump, --rules and --out, or --suggest"),
    ("mask", {"dump": "x", "folder": "y"}, "", "`folder`", "--in requires --suggest"),
    ("mask", {"kafka_properties": ["a=b"]}, "", "`kafka_properties`", "-X requires --suggest"),
    ("mask", {"dump": "x", "folder": "y", "suggest": True}, "", "`dump`", "--sink-uri, --in or a dump"),
    ("mask", {"dump": "x", "config": "y", "suggest": True}, "", "`config`", "--config cannot be combined"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "values", "sink", "in_python", "in_shell"), REJECTED)
def test_options_that_do_not_fit_together(
    command: str, values: dict[str, Any], sink: str, in_python: str, in_shell: str
) -> None:
    with pytest.raises(ProducerError) as caught:
        check_options(command, values, sink)
    assert in_python in str(caught.value)
    assert in_shell in error_text(caught.value)


TO_RUN: list[tuple[dict[str, Any], str]] = [
    ({"inject": "poison"}, r"`inject` is a sequence, and not 'poison' \(write \['poison'\]\)"),
    ({"inject": np.array(["poison", "gap"])}, "`inject` is a sequence, and not array"),
    ({"state_at": 5}, r"`state_at` is a sequence, and not 5"),
    ({"state_at": ["now"], "out": "out"}, "`state_at` has integers, and not 'now'"),
    ({"seed": 1.5}, "`seed` is an integer, and not 1.5"),
    ({"faults": "all"}, r"`faults` has no value 'all' \(one of recorded, none\)"),
    ({"out": 5}, "5: it is not the path of a file or folder"),
    ({"out": "a\0b"}, r"a\\x00b: it is not the path of a file or folder"),
    ({"out": "a" * 300}, "the name is too long"),
]


@pytest.mark.parametrize(("values", "message"), TO_RUN)
def test_values_of_another_type_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ProducerError, match=message):
        ticdc_producer.run("seed_t1", **{"dry_run": "out" not in values, **values})


@pytest.mark.parametrize(("name", "value"), [("examples", 0), ("resolved_gap_ms", -1)])
def test_values_below_the_minimum_are_refused(name: str, value: int) -> None:
    with pytest.raises(ProducerError, match=f"`{name}` is at least {value + 1}, and not {value}"):
        ticdc_producer.verify(folder="none", **{name: value})


def test_options_of_a_topic_that_grows_are_checked() -> None:
    uri = "kafka://127.0.0.1:1/t?protocol=open-protocol"
    with pytest.raises(ProducerError, match="`examples` is at least 1, and not 0"):
        ticdc_producer.follow(sink_uri=uri, examples=0)
    with pytest.raises(ProducerError, match="`metrics_host` requires `metrics_port`"):
        ticdc_producer.follow(sink_uri=uri, metrics_host="0.0.0.0")
    target = {"to_sink_uri": "kafka://127.0.0.1:1/u?protocol=simple", "checkpoint": "checkpoint"}
    with pytest.raises(ProducerError, match=r"`table` is a sequence, and not 'shop\.\*'"):
        ticdc_producer.transcode_growing(sink_uri=uri, table="shop.*", **target)


@pytest.mark.parametrize("scenario", [5, None, pa.table({"n": [1]})])
def test_what_is_no_scenario_is_refused(scenario: Any) -> None:
    with pytest.raises(ProducerError, match="is not a scenario"):
        ticdc_producer.run(scenario, dry_run=True)


@pytest.mark.parametrize(
    ("name", "message"),
    [("a\0b.sql", "not the path of a file"), (f"{'a' * 300}.sql", "the name is too long")],
)
def test_a_name_that_no_file_has_is_refused(name: str, message: str) -> None:
    with pytest.raises(ProducerError, match=message):
        ticdc_producer.run(name, dry_run=True)
    with pytest.raises(ProducerError, match=message):
        ticdc_producer.diff(name, name)


def test_integers_of_numpy_are_integers() -> None:
    assert ticdc_producer.run("seed_t1", seed=np.int64(7), dry_run=True).ok
