"""The tables of the documentation that are generated from the code.

A page contains each between ``<!-- generated: NAME -->`` and ``<!-- end -->``.
``python -m tests.docs.generated_tables`` writes them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.docs import (
    lake_tables,
    one_change,
    option_tables,
    restart_tables,
    scoreboard_tables,
    sql_tables,
    trap_tables,
)
from tests.docs.craft_sizes import sizes
from tests.docs.fidelity_table import fidelity
from tests.docs.markdown import code, table
from tests.runs.features import features
from ticdc_producer.config import PARAMETERS, Parameter, State
from ticdc_producer.config.parameters import protocols_with
from ticdc_producer.protocols.registry import BUILT_IN, signatures
from ticdc_producer.runs.verification import TIMESTAMPS
from ticdc_producer.scenario.spec import scenario_schema
from ticdc_producer.verifier.invariants.registry import INVARIANTS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for folder in (DOCS, DOCS / "extending") for page in folder.glob("*.md"))
_MARKED = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def options() -> str:
    """The options that have an effect."""
    honoured = [option for option in PARAMETERS if option.state == State.HONOURED]
    rows = [
        [
            code(option.name),
            str(option.owner),
            ", ".join(protocols_with(option)) or "all",
            ", ".join(option.sinks) or "all",
            option.value.allowed,
            _default(option),
            _positions(option),
            option.effect,
        ]
        for option in honoured
    ]
    return table(["option", "whose", "protocols", "sinks", "value", "default", "set in", "effect"], rows)


def _default(option: Parameter) -> str:
    if option.default is None:
        return "by protocol" if option.name == "output-ddl" else ""
    return _plain(option.default)


_ESCAPES = {ord("\r"): "\\r", ord("\n"): "\\n"}


def _plain(value: object) -> str:
    return code(str(value).lower() if isinstance(value, bool) else str(value).translate(_ESCAPES))


def _positions(option: Parameter) -> str:
    positions = ["URI"] if option.in_uri else []
    return ", ".join(positions + ([code(option.file_key)] if option.file_key else []))


_GIVEN = {
    "version": "required",
    "steps": "required",
    "tables[].table": "required",
    "ddl.every": "required",
    "tables[].share": "`1`",
    "transactions": "required",
    **{f"steps[].data.{key}": "required" for key in ("table", "transactions", "format", "order")},
    "mix": "`{insert: 20, update: 70, delete: 10}`",
    "resolved": "`{after: transaction}`",
}
"""Defaults that the JSON Schema does not contain."""
_AS_IN_STEP = ("tables[].mix", "tables[].columns")
"""Keys of a table of a ``generate`` step that hold the same as those of the step."""


def scenario_keys() -> str:
    """The keys of a scenario file except those below ``changefeed`` and ``generate``."""
    schema = scenario_schema()
    rows = _keys("", schema, schema["definitions"])
    return table(["key", "default", "meaning"], rows)


def generate_keys() -> str:
    """The keys of a ``generate`` step."""
    definitions = scenario_schema()["definitions"]
    rows = _keys("", definitions["Generate"], definitions)
    return table(["key", "default", "meaning"], rows)


def _keys(above: str, part: dict[str, Any], definitions: dict[str, Any]) -> Iterator[list[str]]:
    for name, key in part["properties"].items():
        path = above + name
        default = _plain(key["default"]) if key.get("default") not in (None, "") else ""
        below = definitions[_reference(key)] if _reference(key) else {}
        meaning = key.get("description") or below.get("description", "")
        yield [code(path), _GIVEN.get(path, default), meaning]
        if below and name not in ("changefeed", "generate") and path not in _AS_IN_STEP:
            separator = {"array": "[].", "object": ".NAME."}.get(key.get("type", ""), ".")
            yield from _keys(path + separator, below, definitions)


def _reference(key: dict[str, Any]) -> str:
    inner = key.get("items") or key.get("additionalProperties") or {}
    return str(key.get("$ref") or inner.get("$ref", "")).rpartition("/")[2]


def invariants() -> str:
    """The invariants that ``verify`` checks."""
    return table(
        ["id", "what must hold", "usual cause of a violation"],
        [[code(invariant.id), invariant.statement, invariant.hint] for invariant in INVARIANTS],
    )


def recognition() -> str:
    """How a protocol is detected from its messages."""
    rows = [[code(name), signature.description] for name, signature in signatures()]
    return table(["protocol", "a message has"], rows)


def wire() -> str:
    """The members of messages whose values ``verify`` does not compare."""
    rows = []
    for spec in BUILT_IN.values():
        assert spec.wire is not None
        excluded = spec.wire.not_compared(claims=True)
        rows += [[spec.title, code(path), reason] for path, reason in excluded.items()]
        for option, paths in spec.wire.excluded_with.items():
            title = f"{spec.title} with {code(option.replace('_', '-'))}"
            rows += [[title, code(path), reason] for path, reason in paths.items()]
        if spec.wire.by_form:
            rows.append([spec.title, "schema ids", "a registry assigns them; the schemas are compared"])
    rows += [["all, in topics", name, reason] for name, reason in TIMESTAMPS.items()]
    return table(["protocol", "not compared", "why"], rows)


TABLES: dict[str, Callable[[], str]] = {
    "fidelity": fidelity,
    "options": options,
    "scenario-keys": scenario_keys,
    "generate-keys": generate_keys,
    "invariants": invariants,
    "recognition": recognition,
    "wire": wire,
    "craft-sizes": sizes,
    "features": features,
    **lake_tables.TABLES,
    **one_change.TABLES,
    **option_tables.TABLES,
    **restart_tables.TABLES,
    **scoreboard_tables.TABLES,
    **sql_tables.TABLES,
    **trap_tables.TABLES,
}


def regenerated(text: str) -> str:
    """A page with its tables generated again."""
    return _MARKED.sub(lambda match: f"{match[1]}\n{TABLES[match[2]]()}\n{match[3]}", text)


def names(text: str) -> list[str]:
    """Names of the tables in a page."""
    return [match[2] for match in _MARKED.finditer(text)]


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(regenerated(page.read_text("utf-8")), "utf-8")
