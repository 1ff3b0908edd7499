"""Commits the batches of a query in a process of its own, which a test kills; without Spark.

As Spark's checkpoint does, a file holds the number of the next batch. It is written after a commit.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark_ticdc.writer import TicdcStreamWriter
from tests.pyspark_ticdc.batches_of_inserts import COLUMNS, Size, arrow_batch, batch


def main(options: dict[str, str], next_batch: Path, size: Size) -> None:
    """Commit the batches that are not known to be committed."""
    first = int(next_batch.read_text()) if next_batch.exists() else 0
    for number in range(first, size.batches):
        writer = TicdcStreamWriter(options, COLUMNS, overwrite=False)
        rows = batch(size, number)
        tasks = [writer.write(iter([arrow_batch(part)])) for part in (rows[1::2], rows[::2])]
        writer.commit(tasks, number)
        written = next_batch.with_suffix(".new")
        written.write_text(str(number + 1))
        written.replace(next_batch)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]), Size(*map(int, sys.argv[3:])))
