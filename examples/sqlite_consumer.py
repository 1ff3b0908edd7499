"""Applies a topic to a SQLite file: Canal-JSON with TiDB's extension, read once to its end.

python sqlite_consumer.py BOOTSTRAP TOPIC FILE
"""

import json
import sqlite3
import sys

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

TABLE = "CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT, credit TEXT)"


class Table:
    """Buffers rows until the resolved-ts has reached them, and then applies them ordered by commit-ts."""

    def __init__(self, database, partitions):
        self.database = database
        self.resolved = dict.fromkeys(partitions, 0)
        self.waiting = []

    def take(self, partition, event):
        if event["type"] == "TIDB_WATERMARK":
            self.resolved[partition] = max(self.resolved[partition], event["_tidb"]["watermarkTs"])
            self.release(partition)
        elif event["type"] in ("INSERT", "UPDATE", "DELETE"):
            self.waiting.append((partition, event))

    def release(self, partition):
        reached = self.resolved[partition]
        due = [entry for entry in self.waiting if entry[0] == partition and commit_ts(entry[1]) <= reached]
        self.waiting = [entry for entry in self.waiting if entry not in due]
        # Within a commit-ts, deletes are applied before inserts.
        for _, event in sorted(due, key=lambda entry: (commit_ts(entry[1]), entry[1]["type"] != "DELETE")):
            self.apply(event)

    def apply(self, event):
        for row in event["data"]:
            if event["type"] == "DELETE":
                self.database.execute("DELETE FROM customers WHERE id = ?", (row["id"],))
            else:
                self.database.execute(
                    "INSERT OR REPLACE INTO customers (id, email, name, credit) "
                    "VALUES (:id, :email, :name, :credit)",
                    row,
                )


def commit_ts(event):
    return event["_tidb"]["commitTs"]


def messages(bootstrap, topic):
    """Yields the list of partitions first, then partition and value of each message."""
    settings = {"bootstrap.servers": bootstrap, "group.id": "sqlite", "enable.partition.eof": True}
    consumer = Consumer(settings | {"enable.auto.commit": False})
    open_partitions = set(consumer.list_topics(topic, 30).topics[topic].partitions)
    yield sorted(open_partitions)
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in open_partitions])
    while open_partitions:
        message = consumer.poll(30)
        if message is None:
            raise TimeoutError(f"no message from {topic}")
        if message.error() is None:
            yield message.partition(), message.value()
        elif message.error().code() == KafkaError._PARTITION_EOF:
            open_partitions.discard(message.partition())
        else:
            raise OSError(message.error().str())
    consumer.close()


def main(bootstrap, topic, file):
    with sqlite3.connect(file) as database:
        database.execute(TABLE)
        stream = messages(bootstrap, topic)
        table = Table(database, next(stream))
        for partition, value in stream:
            table.take(partition, json.loads(value))


if __name__ == "__main__":
    main(*sys.argv[1:])
