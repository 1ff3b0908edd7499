"""The trap catalogue: the traps of this package, then those that other packages register.

``python -m ticdc_producer.faults.catalogue FOLDER`` writes it as ``traps.yaml``, with its JSON Schema.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from ticdc_producer.errors import FaultError
from ticdc_producer.faults.trap import EXPECTED_EVENTS, Trap, TrapEntry, TrapFile
from ticdc_producer.hints import nearest
from ticdc_producer.installation import TRAPS, installed

__all__ = ["EXPECTED_EVENTS", "Trap", "catalogue", "catalogue_schema", "catalogue_text", "trap", "traps_of"]

Kind = TypeVar("Kind", bound=Trap)
_HEAD = """\
# yaml-language-server: $schema=traps.schema.json
#
# Generated from the classes of ticdc_producer.faults.traps: python -m ticdc_producer.faults.catalogue schemas
#
# Situations in TiCDC's topics that make consumers fail (legal traps), and defects that must never occur
# (illegal traps). The rules are in docs/stream-semantics.md. The issues are public reports of users who were
# affected.
"""


@cache
def catalogue() -> dict[str, Trap]:
    """Return all traps by id: legal ones, illegal ones, those of SQL.

    The dictionary is cached: do not modify it.

    :raises FaultError: for a registered object that is not a trap, contradicts itself or has the id of
        another trap.
    """
    from ticdc_producer.faults.traps import built_in  # on first use: effects need numpy and Arrow

    traps: dict[str, Trap] = {}
    for kind, where in (*((kind, "") for kind in built_in()), *_registered()):
        trap = _checked(kind, where)
        if trap.id in traps:
            raise FaultError("another trap has this id", trap=trap.id, where=where)
        traps[trap.id] = trap
    in_order = sorted(traps.values(), key=lambda trap: (trap.mechanism == "scenario", not trap.legal))
    return {trap.id: trap for trap in in_order}


def trap(name: str) -> Trap:
    """Look up a trap by id.

    :raises FaultError: for an unknown id; the hint names the nearest one.
    """
    match = catalogue().get(name)
    if match is None:
        hint = nearest(name, catalogue(), listed="`catalogue`")
        raise FaultError(f"unknown trap {name!r}", trap=name, hint=hint).about("catalogue")
    return match


def traps_of(kind: type[Kind]) -> list[Kind]:
    """Return the traps of one kind, in the order of the catalogue."""
    return [trap for trap in catalogue().values() if isinstance(trap, kind)]


def _registered() -> Iterator[tuple[object, str]]:
    """Yield the objects that other packages register, each with its origin for errors."""
    for name, points in sorted(installed(TRAPS).items()):
        for point in points:
            where = f"entry point {name} = {point.value}"
            try:
                yield point.load(), where
            except Exception as error:
                what = f"a registered trap cannot be loaded: {type(error).__name__}: {error}"
                raise FaultError(what, trap=name, where=where) from error


def _checked(kind: object, where: str) -> Trap:
    if not (isinstance(kind, type) and issubclass(kind, Trap)):
        raise FaultError(f"a registered trap must be a subclass of {Trap.__qualname__}", where=where)
    trap = kind()
    try:
        TrapEntry.of(trap)
    except ValidationError as error:
        first = error.errors()[0]
        what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}".lstrip(": ")
        raise FaultError(what, trap=trap.id, where=where or kind.__qualname__) from error
    if trap.legal == (trap.coverage is None):
        what = "legal traps need `coverage`, illegal ones must not have it"
        raise FaultError(what, trap=trap.id, where=where or kind.__qualname__)
    return trap


def catalogue_schema() -> dict[str, object]:
    """Return the JSON Schema of the catalogue file (draft 7, which editors support)."""
    schema = TrapFile.model_json_schema(ref_template="#/definitions/{model}")
    definitions = schema.pop("$defs")
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Traps of ticdc-producer",
        **_untitled(schema),
        "definitions": _untitled(definitions),
    }


def catalogue_text() -> str:
    """Return the catalogue as YAML, without values that are the defaults."""
    entries = [
        TrapEntry.of(trap).model_dump(mode="json", exclude_defaults=True) for trap in catalogue().values()
    ]
    body = {"version": 1, "traps": entries}
    return _HEAD + yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=110)


def _untitled(schema: Any) -> Any:
    """Remove the titles that pydantic derives from the keys."""
    if isinstance(schema, list):
        return [_untitled(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _untitled(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }


def _write(folder: Path) -> None:
    schema = json.dumps(catalogue_schema(), indent=2, ensure_ascii=False) + "\n"
    folder.joinpath("traps.schema.json").write_text(schema, "utf-8")
    folder.joinpath("traps.yaml").write_text(catalogue_text(), "utf-8")


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
