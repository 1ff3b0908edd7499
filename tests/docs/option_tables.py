"""The tables of options: of ``run`` and ``verify``, of the data source, and of TiCDC's files and URIs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyspark_ticdc.options import OPTIONS, SourceOption
from pyspark_ticdc.write.plan import WRITE_OPTIONS
from tests.docs.markdown import code, listed, table
from ticdc_producer.model.parameter import State
from ticdc_producer.runs.options.commands import RUN, VERIFY
from ticdc_producer.runs.options.option import Option
from tools.drift.tables import file_keys, uri_parameters

_HEAD = ("option", "of the functions", "of the command", "field of a request", "default", "effect")


def _options(options: Iterable[Option], *functions: str) -> str:
    return table(_HEAD, [_row(option, functions) for option in options])


def _row(option: Option, functions: tuple[str, ...]) -> list[str]:
    value = option.value or option.metavar
    flags = [code(f"{flag} {value}" if value else flag) for flag in option.flags]
    default = "" if option.default in (None, (), False) else code(str(option.default).lower())
    return [
        code(option.name),
        listed(name for name in option.functions if name in functions),
        ", ".join(flags) + (", without `--server`" if option.local else ""),
        code(option.field) if option.field else "",
        default,
        f"{option.help.removesuffix('.')}; {option.note}." if option.note else option.help,
    ]


def _spark_options(declared: Iterable[SourceOption]) -> str:
    """The options of the data source ``ticdc``."""
    rows = [
        [
            code(option.name),
            listed(option.uses),
            option.value.allowed,
            "" if option.default is None else code(str(option.default)),
            option.help,
        ]
        for option in declared
    ]
    return table(["option", "of", "value", "default", "effect"], rows)


def _file_keys() -> str:
    """Every key of TiCDC's changefeed file."""
    return table(["key", "here", "why"], [_support(key.path, key.state, key.reason) for key in file_keys()])


def _uri_parameters() -> str:
    """Every parameter of TiCDC's sink URIs."""
    options = sorted(uri_parameters(), key=lambda option: option.name)
    rows = [_support(option.name, option.state, option.effect) for option in options]
    return table(["parameter", "here", "why"], rows)


def _support(name: str, state: State, reason: str) -> list[str]:
    return [code(name), str(state), "" if state is State.HONOURED else reason]


TABLES: dict[str, Callable[[], str]] = {
    "run-options": lambda: _options(RUN, "run", "run_realtime", "run_changes"),
    "verify-options": lambda: _options(VERIFY, "verify", "follow"),
    "file-keys": _file_keys,
    "uri-parameters": _uri_parameters,
    "spark-options": lambda: _spark_options(OPTIONS),
    "spark-write-options": lambda: _spark_options(WRITE_OPTIONS),
}
