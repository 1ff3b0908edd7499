"""Compares the schema files of a folder with those of a scenario: the DDLs, and the columns after them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ticdc_producer.hints import shortened
from ticdc_producer.protocols.storage_files import SchemaFile
from ticdc_producer.targets.storage.read import Problem

_MAX_QUERY_CHARS = 200


def schema_problems(
    schemas: Mapping[str, SchemaFile], expected: Mapping[str, SchemaFile]
) -> Iterator[Problem]:
    """Yield the schema files that are missing, different or of no DDL of the scenario, by path.

    :param schemas: those of the folder, by path.
    :param expected: those of the scenario.
    """
    for path in sorted({*schemas, *expected}):
        if path not in schemas:
            yield Problem(path, f"it is missing; its Query is {_quoted(expected[path].query)}")
        elif path not in expected:
            yield Problem(path, f"the scenario has no such file; its Query is {_quoted(schemas[path].query)}")
        elif schemas[path].content != expected[path].content:
            yield Problem(path, _difference(schemas[path], expected[path]))


def _difference(file: SchemaFile, expected: SchemaFile) -> str:
    if file.query != expected.query:
        return f"its Query is {_quoted(file.query)}, expected {_quoted(expected.query)}"
    if file.type != expected.type:
        return f"its Type is {file.type}, expected {expected.type}"
    if file.columns != expected.columns:
        return "its TableColumns are in another order, or have other members, than expected"
    return "its Schema, Table or TableVersion is not the expected one"


def _quoted(query: str) -> str:
    return repr(shortened(query, _MAX_QUERY_CHARS))
