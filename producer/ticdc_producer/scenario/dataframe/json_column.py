"""Text of JSON columns as TiDB prints it; a function on Arrow columns, because Spark cannot print it.

TiDB sorts members, writes a space after separators and has its own format of doubles, at every depth.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.pandas.functions import arrow_udf

from ticdc_producer.model.json_text import json_text
from ticdc_producer.model.sql_mode import value_error


def json_texts(documents: pa.Array, column: str = "") -> pa.Array:
    """Documents as TiDB prints them, as binary.

    :param column: name of the column, for the message.
    :raises ScenarioError: for text that is not JSON.
    """
    return pa.array([_text(document, column) for document in documents.to_pylist()], pa.binary())


def json_column(document: Column, column: str) -> Column:
    """``json_texts`` as a Spark expression; ``document`` is a string."""

    def texts(documents: pa.Array) -> pa.Array:
        return json_texts(documents, column)

    return arrow_udf(texts, "binary")(document)  # type: ignore[call-overload,no-any-return]  # its stubs miss closures


def _text(document: str | None, column: str) -> bytes | None:
    if document is None:
        return None
    try:
        return json_text(document).encode()
    except ValueError as error:
        raise value_error(column, document, f"Invalid JSON text ({error})") from error
