"""A file of messages that is read in place of its topic."""

from __future__ import annotations

from pathlib import Path

from ticdc_producer.config.parameters import MAX_PARTITIONS
from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order
from ticdc_producer.errors import FolderError
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.targets.dump import file_lines
from ticdc_producer.targets.kafka.read import OffsetRange
from ticdc_producer.targets.record_batches import record_batches

_BY_OFFSET = ("topic", "partition", "offset")


def file_ranges(path: Path, topic: str, partitions: int) -> list[OffsetRange]:
    """Return the first and the last offset of each partition of a topic in a file, and check its lines.

    :param topic: of messages that do not name it.
    :param partitions: number of partitions that a topic has at least; the file may lack messages of some.
    :raises FolderError: for a line that is not a message with a position, and for a file without messages.
    """
    if path.is_fifo():
        hint = "write the messages to a file"
        raise FolderError("it is read several times, so it cannot be a pipe", path=str(path), hint=hint)
    bounds: dict[tuple[str, int], tuple[int, int]] = {}
    for line in file_lines(path, topic=topic, positioned=True):
        if line.partition >= MAX_PARTITIONS:
            what = f"partition {line.partition}: a topic has at most {MAX_PARTITIONS:,} partitions here"
            raise FolderError(what, path=str(path))
        partition_name = line.topic, line.partition
        start, end = bounds.get(partition_name, (line.offset, 0))
        bounds[partition_name] = min(start, line.offset), max(end, line.offset + 1)
    if not bounds:
        raise FolderError("the file has no messages", path=str(path))
    counts: dict[str, int] = {}
    for name, partition in sorted(bounds):
        counts[name] = max(partitions, partition + 1)
    return [
        OffsetRange(topic=name, partition=partition, start=start, end=end)
        for name, count in counts.items()
        for partition in range(count)
        for start, end in [bounds.get((name, partition), (0, 0))]
    ]


def file_messages(engine: Engine, path: Path, topic: str) -> Dataset:
    """Return the messages of a file (shape ``MESSAGES``).

    A part has the messages of a partition in the order of their offsets; the file may have another order.
    """
    absolute = path.absolute()

    def lines(_part: int) -> Batches:
        return record_batches(file_lines(absolute, topic=topic, positioned=True))

    return engine.of_parts(1, lines, MESSAGES).shuffle(_BY_OFFSET[:2], Order(_BY_OFFSET))
