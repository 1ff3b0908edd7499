"""A testee of the apply level of `ticdc-producer conformance`: it applies events to tables.

It decodes with testee_python.py. It receives a whole topic and sorts its events. A consumer that runs forever
sorts the events up to the smallest resolved-ts of its partitions, and applies them in the same way.
"""

import base64
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import testee_python as decoder

Row: TypeAlias = dict[str, Any]
Tables: TypeAlias = dict[str, dict[str, Row]]
"""Table → key → row."""

PROTOCOLS = ("open-protocol", "canal-json")
DROP_DATABASE, DROP_TABLE, TRUNCATE = 2, 4, 11


def changes(request: dict[str, Any]) -> Iterator[tuple[decoder.Event, list[str]]]:
    """The events of a topic, including duplicates, each with the columns of its handle key."""
    for message in request["messages"]:
        key, value = (base64.b64decode(message[part] or "") for part in ("key", "value"))
        if request["protocol"] == "open-protocol":
            events = decoder.open_protocol(key, value)
            yield from zip(events, open_keys(events, value), strict=True)
        else:
            names = json.loads(value).get("pkNames") or []
            yield from ((event, names) for event in decoder.canal_json(value))


def open_keys(events: list[decoder.Event], value: bytes) -> list[list[str]]:
    """The handle key's columns of each event; empty for DDLs and resolved events."""
    if events[0]["kind"] == "resolved":
        return [[]]
    keys = []
    for block in decoder.blocks(value, 0):
        content = json.loads(block)
        columns = content.get("u") or content.get("d") or {}
        keys.append([name for name, column in columns.items() if column.get("h")])
    return keys


def in_order(events: Iterable[tuple[decoder.Event, list[str]]]) -> list[tuple[decoder.Event, list[str]]]:
    """Sorted by commit-ts; within one, deletes come before other rows, and rows before DDLs.

    An update that changes the key is a delete and an insert, because another row may get the old key.
    """

    def sort_key(step: tuple[decoder.Event, list[str]]) -> tuple[int, bool, bool]:
        event = step[0]
        return event["commit_ts"], event["kind"] == "ddl", event.get("op") != "delete"

    return sorted((step for event, key in events for step in steps(event, key)), key=sort_key)


def steps(event: decoder.Event, key: list[str]) -> list[tuple[decoder.Event, list[str]]]:
    """A row event that changes its key as two events; any other one as it is."""
    if event.get("op") != "update" or event["before"] is None:
        return [(event, key)]
    before = {**event["after"], **event["before"]}  # an old image may contain only the changed columns
    if all(before[name] == event["after"][name] for name in key):
        return [(event, key)]
    deleted = {**event, "op": "delete", "before": before, "after": None}
    return [(deleted, key), ({**event, "op": "insert", "before": None}, key)]


def tables_of(request: dict[str, Any]) -> Tables:
    """The tables as of the requested time stamp, or at the end."""
    until, tables = request["resolved_ts"], defaultdict[str, dict[str, Row]](dict)
    for table in request.get("snapshot", []):  # the consumer has these from a dump
        tables[table["name"]] = {key_of(row, table["key"]): row for row in table["rows"]}
    for event, key in in_order(changes(request)):
        if until is not None and event["commit_ts"] > until:
            break
        if event["kind"] == "row":
            apply_row(tables[f"{event['schema']}.{event['table']}"], event, key)
        elif event["kind"] == "ddl":
            apply_ddl(tables, event)
    return tables


def key_of(row: Row, key: list[str]) -> str:
    return json.dumps([row[column] for column in sorted(key)])


def apply_row(rows: dict[str, Row], event: decoder.Event, key: list[str]) -> None:
    """Apply a row event; applying a duplicate has no effect."""
    after, before = event["after"], event["before"]
    # An old image may contain only the changed columns.
    if before is not None:
        rows.pop(key_of({**(after or {}), **before}, key), None)
    if after is not None:
        rows[key_of(after, key)] = after


def apply_ddl(tables: Tables, event: decoder.Event) -> None:
    """Apply DDLs that remove rows; others can be ignored, because row events contain their columns."""
    if event["ddl_type"] == DROP_DATABASE:
        for name in [name for name in tables if name.startswith(f"{event['schema']}.")]:
            tables[name].clear()
    elif event["ddl_type"] in (DROP_TABLE, TRUNCATE):
        tables[f"{event['schema']}.{event['table']}"].clear()


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["level"] == "decode":
        return decoder.answer(request)
    if request["protocol"] not in PROTOCOLS or request.get("follows_ddl") or "claims" in request:
        return {"skipped": "not implemented"}
    try:
        tables = tables_of(request)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"tables": {name: list(tables[name].values()) for name in request["tables"]}}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"hello": 1} if "hello" in request else {"case": request["case"], **answer(request)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
