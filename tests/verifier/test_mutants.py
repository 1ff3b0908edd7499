"""Each wrong consumer ends in a wrong state on some legal stream, the right consumer on none."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain, zip_longest
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.verifier.consumers import WRONG, Consumer, Delivered, Tables, in_utc
from ticdc_producer import api
from ticdc_producer.model.event_line import from_json
from ticdc_producer.protocols import registry
from ticdc_producer.targets.golden.read import records

TRAPPED = Path(__file__).with_name("trapped.yaml")
TOPICS: dict[str, tuple[str, ...]] = {
    "none": (),
    "idle-partition": ("idle-partition",),
    "retries": ("duplicate-message:rate=0.5", "duplicate-event:rate=0.5", "duplicate-ddl:rate=1"),
    "restarts": ("replay-suffix:window=6", "resolved-fallback", "ddl-at-resolved-ts:rate=1"),
    "replay-partial": ("replay-partial:times=2",),
    "replay-one-table": ("replay-one-table:times=3",),
    "resolved-lag": ("resolved-lag:times=2",),
    "regrouped-batches": ("regrouped-batches:rate=1",),
    "raw-key-update": ("raw-key-update",),
}
FAST = ("none", "restarts")

Partitions = dict[int, list[Delivered]]


def one_by_one(partitions: Partitions) -> Iterator[Delivered]:
    """A message of each partition in turn."""
    rounds = zip_longest(*(messages(events) for events in partitions.values()), fillvalue=())
    return chain.from_iterable(chain.from_iterable(rounds))


def messages(events: list[Delivered]) -> Iterator[list[Delivered]]:
    by_offset: dict[int, list[Delivered]] = defaultdict(list)
    for event in events:
        by_offset[event.offset].append(event)
    return iter(by_offset.values())


def upwards(partitions: Partitions) -> Iterator[Delivered]:
    """One partition after the other: as far behind as a partition can be."""
    return chain.from_iterable(events for _, events in sorted(partitions.items()))


def downwards(partitions: Partitions) -> Iterator[Delivered]:
    return chain.from_iterable(events for _, events in sorted(partitions.items(), reverse=True))


READINGS: tuple[Callable[[Partitions], Iterator[Delivered]], ...] = (one_by_one, upwards, downwards)


def delivered(folder: Path, count: int) -> Partitions:
    decode = registry.decoder("open-protocol", {}).events
    partitions: Partitions = {partition: [] for partition in range(count)}
    for message in records(folder / "messages.jsonl"):
        events = decode(message.key, message.value)
        partition, offset = message.partition, message.offset
        partitions[partition] += [
            Delivered(partition, offset, index, event) for index, event in enumerate(events)
        ]
    return partitions


def expected(folder: Path) -> Tables:
    """The rows at the end, as the folder has them; both tables have the key ``id``."""
    tables: Tables = {}
    for file in sorted((folder / "state").iterdir()):
        for line in file.read_text("utf-8").splitlines():
            row = {name: from_json(value) for name, value in json.loads(line).items()}
            if since := row.get("since"):
                row["since"] = in_utc(since)
            tables[file.stem, (row["id"],)] = row
    return tables


def ends_right(consumer: type[Consumer], partitions: Partitions, state: Tables) -> bool:
    """Whether a consumer ends with the state, however the partitions are read."""
    for reading in READINGS:
        try:
            if consumer(len(partitions)).read(reading(partitions)) != state:
                return False
        except RuntimeError:
            return False
    return True


def matrix(topics: dict[str, tuple[Partitions, Tables]]) -> dict[str, set[str]]:
    """The topics on which each consumer ends wrong."""
    return {
        consumer.__name__: {
            name for name, (read, state) in topics.items() if not ends_right(consumer, read, state)
        }
        for consumer in (Consumer, *WRONG)
    }


def printed(by_consumer: dict[str, set[str]], topics: list[str]) -> str:
    lines = [f"{'':20}" + " ".join(f"{name:>17}" for name in topics)]
    lines += [
        f"{name:20}" + " ".join(f"{'wrong' if topic in wrong else '-':>17}" for topic in topics)
        for name, wrong in by_consumer.items()
    ]
    return "\n".join(lines)


def written_topics(folder: Path, names: tuple[str, ...]) -> dict[str, tuple[Partitions, Tables]]:
    topics = {}
    for name in names:
        report = api.run(TRAPPED, out=folder / name, inject=TOPICS[name])
        assert report.ok
        count = json.loads((folder / name / "manifest.json").read_text())["changefeed"]["partition-num"]
        topics[name] = (delivered(folder / name, count), expected(folder / name))
    return topics


@pytest.mark.parametrize("names", [FAST, pytest.param(tuple(TOPICS), marks=pytest.mark.slow)])
def test_wrong_consumers_end_wrong_and_the_right_one_never(
    spark: SparkSession, tmp_path: Path, names: tuple[str, ...]
) -> None:
    by_consumer = matrix(written_topics(tmp_path, names))
    print(printed(by_consumer, list(names)))
    assert not by_consumer.pop(Consumer.__name__)
    unnoticed = {name for name, wrong in by_consumer.items() if not wrong}
    assert unnoticed <= (set() if len(names) == len(TOPICS) else {"NeedsRows"})
