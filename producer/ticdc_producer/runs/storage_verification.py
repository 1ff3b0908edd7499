"""The verdict on a storage folder: its layout, its rows, and the comparison with a scenario's events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.config import Changefeed
from ticdc_producer.runs.verification import OnVerdict, VerifiedStream, ignore_verdict
from ticdc_producer.spark.materialize import materialized
from ticdc_producer.targets.decoding.decode import decoded
from ticdc_producer.targets.storage.dataframes import storage_messages
from ticdc_producer.targets.storage.listing import Listing
from ticdc_producer.targets.storage.read import Names, reading_options
from ticdc_producer.verifier.distributed_comparison import compare_events
from ticdc_producer.verifier.finding import Example, Finding
from ticdc_producer.verifier.verdict import Verdict

LAYOUT, DECODE = "STORAGE-LAYOUT", "STORAGE-DECODE"
_MAX_EXAMPLES = 3
_STATEMENTS = {
    LAYOUT: "Directories, schema files, index files and metadata of the storage belong together.",
    DECODE: "Every data file consists of rows of its protocol, as its schema file describes them.",
}
_HINTS = {
    LAYOUT: "a file was lost, changed or is still to come",
    DECODE: "the file was cut short, or written with other options than those of the sink URI",
}


def storage_verdict(
    spark: SparkSession,
    changefeed: Changefeed,
    listing: Listing,
    expected: Callable[[], DataFrame] | None = None,
    names: Names | None = None,
    *,
    scenario: str = "",
    on_verdict: OnVerdict = ignore_verdict,
) -> Verdict:
    """Verify a storage folder.

    :param listing: its files.
    :param expected: returns the events that must be in it, with their directory as ``topic``.
    :param names: the columns of the rows per directory; None: all columns of the schema files.
    """
    options = changefeed.codec_options()
    messages = storage_messages(spark, listing, changefeed.protocol, options)
    with materialized(
        decoded(messages, changefeed.protocol, reading_options(listing, options, names))
    ) as stream:
        counted = {row["kind"]: row["count"] for row in stream.groupBy("kind").count().collect()}
        damaged = counted.pop("error", 0)
        verdict = Verdict(
            findings=tuple(_findings(listing, stream, damaged)),
            checked=(LAYOUT, DECODE),
            kinds={"row": counted.get("row", 0), "ddl": listing.files},
            comparison=None if expected is None else compare_events(expected(), stream),
        )
        on_verdict(VerifiedStream(changefeed, scenario, lambda: stream, verdict))
        return verdict


def _findings(listing: Listing, stream: DataFrame, damaged: int) -> Iterator[Finding]:
    if listing.problems:
        examples = [
            Example((), f"{problem.path}: {problem.what}") for problem in listing.problems[:_MAX_EXAMPLES]
        ]
        yield replace(_finding(LAYOUT, len(listing.problems)), examples=tuple(examples))
    if damaged:
        rows = (
            stream.where(F.col("kind") == "error").orderBy("topic", "offset").limit(_MAX_EXAMPLES).collect()
        )
        examples = [Example((), f"{row['topic']}: {row['error']}: {row['error_expected']}") for row in rows]
        yield replace(_finding(DECODE, damaged), examples=tuple(examples))


def _finding(name: str, count: int) -> Finding:
    return Finding(id=name, severity="error", count=count, statement=_STATEMENTS[name], hint=_HINTS[name])
