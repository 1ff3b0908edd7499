"""A streaming query in a process of its own, which a test kills: files become batches of a topic."""

from __future__ import annotations

import json
import sys

from ticdc_producer.spark.session import spark_session

SCHEMA = "op string, id long, name string"


def main(files: str, options: dict[str, str]) -> None:
    """Write all files, one per batch, and end."""
    settings = {
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    }
    # Each task is tried four times, as on a cluster.
    spark = spark_session("local[2,4]", settings={**settings, "spark.sql.shuffle.partitions": "2"})
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(files)
    writer = rows.repartition(2).writeStream.format("ticdc").options(**options)
    writer.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
