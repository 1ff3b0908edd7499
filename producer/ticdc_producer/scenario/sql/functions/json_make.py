"""JSON functions that make and merge documents, and that describe a whole document.

Rules: tidb ``pkg/expression/builtin_json.go``.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Sequence

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.json_document import (
    JsonScalar,
    JsonValue,
    check_depth,
    depth_of,
    json_of,
    json_type,
    members,
    parse_json,
    print_json,
    quoted,
)
from ticdc_producer.model.values.sql_value import JsonText, SQLMode, SQLValue, display_value
from ticdc_producer.scenario.sql.expression.eval_type import E
from ticdc_producer.scenario.sql.functions.function import Arguments, Function, any_arguments, value_function
from ticdc_producer.scenario.sql.functions.json_path import extract, require_single
from ticdc_producer.scenario.sql.functions.json_search import (
    cast_document,
    document_function,
    result,
    to_document,
    to_path,
)


def _array(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    return result([json_of(argument) for argument in arguments])


def _object(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    document: dict[str, JsonValue] = {}
    for name, value in zip(arguments[::2], arguments[1::2], strict=True):
        if name is None:
            raise ScenarioError("JSON documents may not contain NULL member names")
        if isinstance(name, bytes):
            raise ScenarioError("Cannot create a JSON value from a string with CHARACTER SET 'binary'")
        document[to_text(name)] = json_of(value)
    return result(document)


def _quote(value: SQLValue) -> SQLValue:
    text = _utf8(value) if isinstance(value, bytes) else value
    if not isinstance(text, str) or isinstance(text, JsonText):
        raise ScenarioError(
            "Incorrect type for argument 1 in function json_quote", value=display_value(value)
        )
    return quoted(text)


def _utf8(octets: bytes) -> str:
    try:
        return octets.decode()
    except UnicodeDecodeError:
        raise UnsupportedSQL("JSON_QUOTE of bytes that are not UTF-8 is not supported") from None


def unquote(value: SQLValue) -> SQLValue:
    """Return ``JSON_UNQUOTE``: the content of a JSON string; any other text or document unchanged."""
    if isinstance(value, bytes):
        raise ScenarioError("Cannot create a JSON value from a string with CHARACTER SET 'binary'")
    if not isinstance(value, str):
        raise ScenarioError(
            "Incorrect type for argument 1 in function json_unquote", value=display_value(value)
        )
    text = to_text(value)
    if len(text) < 2 or not (text[0] == text[-1] == '"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        raise ScenarioError(
            "Invalid JSON text in argument 1 to function json_unquote", value=display_value(text)
        ) from None


def _unquoted_path(node: exp.Expr) -> Arguments:
    """Return the argument of JSON_UNQUOTE that ``document ->> path`` means."""
    return (exp.Anonymous(this="JSON_EXTRACT", expressions=[node.this, node.expression]),)


def _valid(value: SQLValue) -> SQLValue:
    if isinstance(value, JsonText):
        return True
    if not isinstance(value, str):
        return False
    try:
        check_depth(parse_json(value))
    except ValueError:
        return False
    return True


def _length(source: JsonValue, path: SQLValue = "$") -> SQLValue:
    exists, value = extract(source, [require_single(to_path(path))])
    if not exists:
        return None
    return len(value) if isinstance(value, list | dict) else 1


def _keys(source: JsonValue, path: SQLValue = "$") -> SQLValue:
    exists, value = extract(source, [require_single(to_path(path))])
    return result([name for name, _ in members(value)]) if exists and isinstance(value, dict) else None


def _merge_preserve(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    return result(merged([to_document(argument) for argument in arguments]))


def merged(documents: list[JsonValue]) -> JsonValue:
    """Merge documents: adjacent objects become one; if several documents remain, they become one array."""
    results: list[JsonValue] = []
    for document in documents:
        last = results[-1] if results else None
        if isinstance(document, dict) and isinstance(last, dict):
            results[-1] = _merged_objects(last, document)
        else:
            results.append(document)
    if len(results) == 1:
        return results[0]
    return [
        element
        for document in results
        for element in (document if isinstance(document, list) else [document])
    ]


def _merged_objects(left: dict[str, JsonValue], right: dict[str, JsonValue]) -> dict[str, JsonValue]:
    merged_object = dict(left)
    for name, value in right.items():
        merged_object[name] = merged([merged_object[name], value]) if name in merged_object else value
    return merged_object


def _merge_patch(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    """Merge documents by RFC 7396, from left to right.

    NULL makes the result NULL until a document that is not an object.
    """
    documents = [None if argument is None else [to_document(argument)] for argument in arguments]
    target = documents[0]
    for patch in documents[1:]:
        if patch is None:
            target = None
        elif not isinstance(patch[0], dict):
            target = patch
        elif target is not None:
            target = [_patched(target[0], patch[0])]
    return None if target is None else result(target[0])


def _patched(target: JsonValue, patch: JsonValue) -> JsonValue:
    if not isinstance(patch, dict):
        return patch
    patched = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            patched.pop(name, None)
        else:
            patched[name] = _patched(patched.get(name), value)
    return patched


def _pretty(document: JsonValue, indent: str = "\n") -> str:
    """Return a document with a line per member. Source: tidb ``builtinJSONSPrettySig``."""
    inner = f"{indent}  "
    if isinstance(document, dict) and document:
        parts = [f"{quoted(name)}: {_pretty(value, inner)}" for name, value in members(document)]
        return f"{{{inner}{f',{inner}'.join(parts)}{indent}}}"
    if isinstance(document, list) and document:
        return f"[{inner}{f',{inner}'.join(_pretty(value, inner) for value in document)}{indent}]"
    return print_json(document)


_SIZES = {"DATE": 8, "DATETIME": 8, "TIME": 12}


def _stored_size(document: JsonValue) -> int:
    """Return the bytes of a value in TiDB's binary format, without those of its type.

    Source: tidb ``pkg/types/json_binary.go``.
    """
    if document is None or isinstance(document, bool):
        return 1
    if isinstance(document, int | float):
        return 8
    if isinstance(document, str):
        kind = document.kind if isinstance(document, JsonScalar) else ""
        if kind in _SIZES:
            return _SIZES[kind]
        is_blob = kind == "BLOB"
        octets = document.encode("utf-8", "surrogateescape")
        size = len(b64decode(octets.rpartition(b":")[2]) if is_blob else octets)
        return size + max(1, -(-size.bit_length() // 7)) + is_blob
    values = list(document.values()) if isinstance(document, dict) else document
    names = document if isinstance(document, dict) else ()
    keys = sum(6 + len(name.encode("utf-8", "surrogateescape")) for name in names)
    inlined = (bool, type(None))
    return 8 + keys + sum(5 + (0 if isinstance(value, inlined) else _stored_size(value)) for value in values)


_ALL = range(1000)
FUNCTIONS = {
    "JSON_ARRAY": Function(_array, 0, -1, accepts_null=True, type=E.JSON, default=any_arguments),
    "JSON_DEPTH": document_function(depth_of, 1, read=cast_document, type=E.INTEGER, indexed=True),
    "JSON_KEYS": document_function(_keys, 1, 2, documents=(0,), type=E.JSON),
    "JSON_LENGTH": document_function(_length, 1, 2, read=cast_document, type=E.INTEGER, indexed=True),
    "JSON_MERGE": Function(_merge_preserve, 2, -1, documents=_ALL, type=E.JSON),
    "JSON_MERGE_PATCH": Function(_merge_patch, 2, -1, accepts_null=True, documents=_ALL, type=E.JSON),
    "JSON_MERGE_PRESERVE": Function(_merge_preserve, 2, -1, documents=_ALL, type=E.JSON),
    "JSON_OBJECT": Function(_object, 0, -1, accepts_null=True, step=2, type=E.JSON, default=any_arguments),
    "JSON_QUOTE": value_function(_quote, 1, type=E.TEXT, default=any_arguments),
    "JSON_TYPE": document_function(json_type, 1, documents=(0,), type=E.TEXT),
    "JSON_UNQUOTE": value_function(
        unquote, 1, documents=(0,), type=E.TEXT, syntax={exp.JSONExtractScalar: _unquoted_path}
    ),
    "JSON_PRETTY": document_function(_pretty, 1, read=cast_document, type=E.TEXT),
    "JSON_STORAGE_SIZE": document_function(
        lambda document: 1 + _stored_size(document), 1, read=cast_document, type=E.INTEGER, indexed=True
    ),
    "JSON_STORAGE_FREE": document_function(lambda _: 0, 1, read=cast_document, type=E.INTEGER),
    "JSON_VALID": value_function(_valid, 1, type=E.INTEGER, indexed=True),
}
