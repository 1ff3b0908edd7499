"""Writes the changes of a batch query, and those of a streaming query, each of its batches once."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from urllib.parse import urlsplit

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from pyspark_ticdc.write.batches import BatchWriter
from pyspark_ticdc.write.plan import write_plan
from pyspark_ticdc.write.staging import StagedRows
from ticdc_producer.errors import ArgumentError
from ticdc_producer.scenario.dataframe.change_columns import partial_changes


class TicdcWriter(DataSourceArrowWriter):
    """A writer of the rows of a batch query: tasks stage them, and the commit sends them.

    :param given: the options.
    :param columns: the columns of the rows.
    :param overwrite: whether the target is replaced.
    :raises ProducerError: for invalid options or columns, and for a target that must not be written.
    """

    def __init__(self, given: Mapping[str, str], columns: StructType, *, overwrite: bool) -> None:
        self._plan, self._overwrite = write_plan(given, columns, "write"), overwrite
        BatchWriter(self._plan).check(overwrite=overwrite)

    def __repr__(self) -> str:
        """Return a constant: options may hold secrets."""
        return "TicdcWriter()"

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Stage the rows of a task.

        :raises ScenarioError: for a value that does not fit its column.
        """
        form = self._plan.form
        return self._plan.staging.write(partial_changes(form, batch) for batch in iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Encode and send the staged rows.

        :raises ProducerError: if they cannot be sent completely.
        """
        try:
            BatchWriter(self._plan).write(staged_rows(messages), overwrite=self._overwrite)
        finally:
            self._plan.staging.clear()

    def abort(
        self,
        messages: list[WriterCommitMessage | None],  # noqa: ARG002  # of Spark's interface
    ) -> None:
        """Delete the staged rows; messages that were sent remain for the same query to complete."""
        self._plan.staging.clear()


def staged_rows(messages: Sequence[WriterCommitMessage | None]) -> list[StagedRows]:
    """Return what the tasks have staged."""
    return [message for message in messages if isinstance(message, StagedRows)]


def normalized(location: str) -> str:
    """Return the one spelling of a checkpoint location, by which a query is known again.

    >>> {normalized(location) for location in ("/cp", "/cp/", "file:/cp", "file:///x/../cp")}
    {'/cp'}
    >>> normalized("s3a://bucket/cp/")
    's3a://bucket/cp'
    """
    parts = urlsplit(location)
    if parts.scheme in ("", "file"):
        return posixpath.abspath(parts.path)
    return f"{parts.scheme}://{parts.netloc}{posixpath.normpath(parts.path)}"


class TicdcStreamWriter(DataSourceStreamArrowWriter):
    """A writer of the batches of a streaming query: tasks stage their rows, and the commit sends them.

    :param given: the options.
    :param columns: the columns of the rows.
    :param overwrite: whether the output mode is ``complete``.
    :raises ProducerError: for invalid options or columns, and for a target that must not be written.
    """

    def __init__(self, given: Mapping[str, str], columns: StructType, *, overwrite: bool) -> None:
        if overwrite:
            what = "changes are appended: the output mode 'complete' has none"
            raise ArgumentError(what, argument="outputMode", hint="use the output mode 'append'")
        self._plan = write_plan(given, columns, "writeStream")
        checkpoint = normalized(str(self._plan.options.values["checkpointLocation"]))
        self._batches = BatchWriter(self._plan, sha256(checkpoint.encode()).hexdigest()[:16])
        _ = self._batches.changefeed  # rejects what cannot be written

    def __repr__(self) -> str:
        """Return a constant: options may hold secrets."""
        return "TicdcStreamWriter()"

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Stage the rows of a task.

        :raises ScenarioError: for a value that does not fit its column.
        """
        form = self._plan.form
        return self._plan.staging.write(partial_changes(form, batch) for batch in iterator)

    def commit(
        self,
        messages: list[WriterCommitMessage | None],
        batchId: int,  # noqa: N803  # of Spark's interface
    ) -> None:
        """Encode and send the staged rows of a batch, or what an earlier attempt has not sent of them.

        :raises ProducerError: if they cannot be sent completely, or the batch has other rows than before.
        """
        self._batches.write(staged_rows(messages), number=batchId)
        self._plan.staging.clear()

    def abort(
        self,
        messages: list[WriterCommitMessage | None],  # noqa: ARG002  # of Spark's interface
        batchId: int,  # noqa: ARG002, N803  # of Spark's interface
    ) -> None:
        """Delete the staged rows. Spark repeats the batch when the query starts again."""
        self._plan.staging.clear()
