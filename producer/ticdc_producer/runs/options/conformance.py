"""The options of ``conformance``, and the combinations of them that are rejected."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Literal, TypeAlias

from ticdc_producer.model.parameter import Protocol
from ticdc_producer.runs.options.commands import AS_JSON
from ticdc_producer.runs.options.option import Option
from ticdc_producer.runs.options.rule import OptionRule, requires

LevelOption: TypeAlias = Literal["decode", "apply", "storage", "restart"]
DEFAULT_EXAMPLES = 1000
_COMMAND = ()

# fmt: off
_HISTORIES = (
    Option("seed", int | None, None, "With `fuzz`: seed of the histories; default 0.",
        minimum=0, functions=_COMMAND),
    Option("examples", int | None, None,
        f"With `fuzz`: number of histories; default {DEFAULT_EXAMPLES}, unless `time` is given.",
        minimum=1, functions=_COMMAND),
    Option("time", str | None, None, "With `fuzz`: end after a time, such as 5m.",
        metavar="TIME", functions=_COMMAND),
    Option("altered_tables", bool, False, "With `fuzz`: also request tables that a DDL altered.",
        functions=_COMMAND),
    Option("processes", int | None, None,
        "With `fuzz`: processes that build topics, at most 8; default: one per core.",
        metavar="N", minimum=0, functions=_COMMAND),
)
CONFORMANCE = (
    Option("testee", str | None, None, "Command that starts the program under test.",
        metavar="CMD", functions=_COMMAND),
    Option("protocol", list[Protocol], (), "Only cases of this one.", "may be repeated", functions=_COMMAND),
    Option("level", list[LevelOption], (), "Events of messages, rows of topics or files, restarts.",
        "may be repeated", functions=_COMMAND),
    Option("only", list[str], (), "Only cases whose id matches.", "may be repeated",
        flags=("--filter",), metavar="GLOB", functions=_COMMAND),
    Option("failures", Path | None, None, "Cases expected to fail: an id or a glob per line.",
        metavar="FILE", functions=_COMMAND),
    Option("timeout", str, "5s", "Timeout of one answer, such as 500ms or 5s.",
        metavar="TIME", functions=_COMMAND),
    Option("listing", bool, False, "List the cases and run none.", flags=("--list",), functions=_COMMAND),
    Option("junit_xml", Path | None, None, "Also write the outcomes as JUnit XML.",
        metavar="PATH", functions=_COMMAND),
    Option("save", Path | None, None,
        "Write each failed case as a golden folder, with the command that replays it.",
        metavar="DIR", functions=_COMMAND),
    Option("fuzz", bool, False, "Random histories instead of the written cases, at both levels.",
        functions=_COMMAND),
    *_HISTORIES,
    Option("replay", Path | None, None, "Send the history of a saved failure again.",
        metavar="FOLDER", functions=_COMMAND),
    Option("shrink", Path | None, None,
        "Cut a golden folder or a scenario that fails down to a few statements.",
        metavar="PATH", functions=_COMMAND),
    Option("reset", bool, False,
        "At level restart, let the process live: each start resets it. Default: kill it.",
        functions=_COMMAND),
    Option("kafka", str, "", "At level restart, the program commits its offsets to this Kafka.",
        metavar="SERVERS", functions=_COMMAND),
    AS_JSON,
)
"""In the order of the help of ``conformance``."""
# fmt: on

RESTARTS = "the level restart"
"""What is given with cases of this level."""
_MODES = ("fuzz", "replay", "shrink")
_STARTS = "`testee` CMD starts the program under test"


def _rules() -> Iterator[OptionRule]:
    yield OptionRule(
        "`kafka` has no effect without restarts", ("kafka",), (RESTARTS, "replay"), "add `level` restart"
    )
    for pair in combinations(_MODES, 2):
        yield OptionRule(f"`{pair[0]}` and `{pair[1]}` cannot be combined", pair, hint="give one of them")
    names = [option.name for option in _HISTORIES]
    yield from requires(names, "fuzz", "`fuzz` draws random histories")
    for mode, name in product(_MODES, ("only", "failures", "listing", "junit_xml")):
        what = f"`{name}` is an option of written cases"
        yield OptionRule(what, (mode, name), hint="leave it out")
    for mode in _MODES:
        yield OptionRule(f"`{mode}` requires `testee`", (mode,), ("testee",), _STARTS)
    yield OptionRule("conformance requires `testee` or `listing`", (), ("testee", "listing"), _STARTS)


RULES = tuple(_rules())
"""In the order of the checks."""
GOLDEN_RULES = (
    OptionRule("golden requires `out`", (), ("out",), "it names the folder to write"),
    OptionRule(
        "a case of the level restart is a conversation, not files",
        (RESTARTS,),
        hint="leave `level` restart out",
    ),
)
"""Those of ``golden``, which writes the cases as files."""
