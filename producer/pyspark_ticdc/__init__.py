"""The Spark data source ``ticdc``: reads and writes TiCDC's topics and folders in Spark jobs (docs/spark.md).

Spark imports every module whose name begins with ``pyspark_`` when it looks for data sources, also for other
formats. Importing this package therefore loads nothing but pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamWriter, DataSourceWriter


class DefaultSource(DataSource):
    """The format ``ticdc``. Spark finds it by the names of this class and of its package."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "ticdc"

    def schema(self) -> StructType:
        """Return the columns of what the options name.

        :raises ProducerError: for invalid options, or a source that cannot be read.
        """
        from pyspark_ticdc.reader import schema

        return schema(self.options)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of a batch query.

        :param schema: the columns that Spark expects: those of :meth:`schema`, or the user's.
        """
        from pyspark_ticdc.reader import TicdcReader

        return TicdcReader(self.options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return the reader of a streaming query.

        :param schema: as of :meth:`reader`.
        """
        from pyspark_ticdc.stream_reader import TicdcStreamReader

        return TicdcStreamReader(self.options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Return the writer of a batch query.

        :param schema: the columns of the rows.
        :param overwrite: whether the mode is ``overwrite``.
        """
        from pyspark_ticdc.writer import TicdcWriter

        return TicdcWriter(self.options, schema, overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        """Return the writer of a streaming query.

        :param schema: the columns of the rows.
        :param overwrite: whether the output mode is ``complete``.
        """
        from pyspark_ticdc.writer import TicdcStreamWriter

        return TicdcStreamWriter(self.options, schema, overwrite=overwrite)
