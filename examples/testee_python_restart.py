"""A testee of the restart level of `ticdc-producer conformance`: a consumer that survives being killed.

It decodes with testee_python.py. It writes rows into a file, which takes the part of a database, and commits
its offsets to Kafka. The order of both is what makes it right:

1. Rows wait until every partition has a resolved-ts of at least their commit-ts.
2. They are applied by commit-ts. Applying one again has no effect.
3. The resolved-ts is stored. Rows up to it are never applied again.
4. The offsets are committed: of each partition the first message with a row that still waits.
"""

import json
import sys
from pathlib import Path
from typing import Any, TypeAlias

import testee_python as decoder
import testee_python_apply as tables

Step: TypeAlias = tuple[str, int, decoder.Event, list[str]]
"""Partition, offset, event and the columns of its handle key."""

END = 1 << 63


class Stopped(Exception):
    """The runner stops the consumer here. Nothing must happen after it."""


class Points:
    """What a step of the conversation makes durable."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.labels: list[str] = []
        self.committed: dict[str, int] = {}
        self.stop = request.get("stop")

    def reached(self, label: str) -> None:
        self.labels.append(label)
        if len(self.labels) == self.stop:
            raise Stopped


class Database:
    """Tables in a file of changes. A line of the file is written as a whole, like a transaction."""

    def __init__(self, path: Path) -> None:
        self.tables: tables.Tables = {}
        self.ddls: set[str] = set()
        self.resolved_ts = 0
        for line in path.read_text("utf-8").splitlines() if path.exists() else []:
            self.apply(json.loads(line))
        self.file = path.open("a", encoding="utf-8")

    def write(self, change: dict[str, Any]) -> None:
        self.apply(change)
        self.file.write(json.dumps(change) + "\n")
        self.file.flush()

    def apply(self, change: dict[str, Any]) -> None:
        if "resolved_ts" in change:
            self.resolved_ts = change["resolved_ts"]
        elif change["event"]["kind"] == "row":
            event = change["event"]
            rows = self.tables.setdefault(f"{event['schema']}.{event['table']}", {})
            tables.apply_row(rows, event, change["key"])
        else:
            self.ddls.add(identity(change["event"]))
            for name in self.tables:
                self.tables[name] = dict(self.tables[name])
            tables.apply_ddl(Existing(self.tables), change["event"])


class Existing(dict[str, dict[str, Any]]):
    """The tables; one without rows is empty."""

    def __missing__(self, name: str) -> dict[str, Any]:
        return {}


def identity(ddl: decoder.Event) -> str:
    """Equal for all copies of a DDL: every partition has one, and TiCDC may send it again."""
    return json.dumps([ddl["commit_ts"], ddl["schema"], ddl["table"], ddl["query"]])


class Consumer:
    def __init__(self, request: dict[str, Any]) -> None:
        self.protocol = request["protocol"]
        self.database = Database(Path(request["directory"]) / "database.jsonl")
        names = [f"{topic}/{number}" for topic, n in request["partitions"].items() for number in range(n)]
        self.resolved = dict.fromkeys(names, self.database.resolved_ts)
        self.next = dict(request["committed"])
        self.waiting: list[Step] = []

    def deliver(self, messages: list[dict[str, Any]], points: Points) -> None:
        for message in messages:
            partition = f"{message['topic']}/{message['partition']}"
            for event, key in tables.changes({"protocol": self.protocol, "messages": [message]}):
                self.receive((partition, message["offset"], event, key), points)
            self.next[partition] = message["offset"] + 1
            self.release(min(self.resolved.values()), points)

    def receive(self, step: Step, points: Points) -> None:
        partition, offset, event, _ = step
        if event["kind"] == "resolved":
            self.resolved[partition] = max(self.resolved[partition], event["commit_ts"])
        elif event["commit_ts"] > self.database.resolved_ts:
            self.waiting += [(partition, offset, *half) for half in tables.steps(event, step[3])]
        elif event["kind"] == "ddl" and identity(event) not in self.database.ddls:
            self.write(step, points)  # its resolved-ts came before it

    def release(self, resolved_ts: int, points: Points) -> None:
        """Apply what waits up to a resolved-ts, store it, and commit the offsets."""
        if resolved_ts <= self.database.resolved_ts:
            return
        self.apply_until(resolved_ts, points)
        self.database.write({"resolved_ts": resolved_ts})
        points.reached("effect")
        self.commit(points)

    def apply_until(self, resolved_ts: int, points: Points) -> None:
        ready = [step for step in self.waiting if step[2]["commit_ts"] <= resolved_ts]
        self.waiting = [step for step in self.waiting if step[2]["commit_ts"] > resolved_ts]
        for step in sorted(ready, key=order):
            self.write(step, points)

    def write(self, step: Step, points: Points) -> None:
        self.database.write({"event": step[2], "key": step[3]})
        points.reached("effect")

    def commit(self, points: Points) -> None:
        offsets = dict(self.next)
        for partition, offset, _, _ in self.waiting:
            offsets[partition] = min(offsets[partition], offset)
        points.committed = offsets
        points.reached("commit")

    def rows(self, request: dict[str, Any], points: Points) -> dict[str, list[tables.Row]]:
        if request["resolved_ts"] is None:  # no further resolved event comes
            self.apply_until(END, points)
        return {name: list(self.database.tables.get(name, {}).values()) for name in request["tables"]}


def order(step: Step) -> tuple[int, bool, bool]:
    """By commit-ts; within one, deletes come before other rows, and rows before DDLs."""
    event = step[2]
    return event["commit_ts"], event["kind"] == "ddl", event.get("op") != "delete"


def start(request: dict[str, Any]) -> tuple[Consumer | None, dict[str, Any]]:
    """Forget everything of earlier lives but the directory."""
    if request["protocol"] not in tables.PROTOCOLS or "claims" in request or "follows_ddl" in request:
        return None, {"skipped": "not implemented"}
    consumer = Consumer(request)
    return consumer, {"offsets": consumer.next}


def answer(consumer: Consumer, request: dict[str, Any]) -> dict[str, Any]:
    points, reply = Points(request), dict[str, Any]()
    try:
        if request["do"] == "deliver":
            consumer.deliver(request["messages"], points)
        else:
            reply["tables"] = consumer.rows(request, points)
    except Stopped:
        reply["stopped"] = True
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        reply["error"] = f"{type(error).__name__}: {error}"
    return {**reply, "points": points.labels, "committed": points.committed}


def main() -> None:
    consumer: Consumer | None = None
    for line in sys.stdin:
        request = json.loads(line)
        if "hello" in request:
            print(json.dumps({"hello": 1}), flush=True)
            continue
        reply = {"case": request["case"]}
        if request["level"] != "restart":
            reply |= tables.answer(request)
        elif request["do"] == "start":
            consumer, content = start(request)
            reply |= {"step": 0, **content}
        elif consumer is not None:
            reply |= {"step": request["step"], **answer(consumer, request)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
