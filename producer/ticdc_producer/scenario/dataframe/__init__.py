"""Users bring their own typed DataFrames: one per table, a row per row change.

``tables`` reads CREATE TABLE statements, ``changes`` makes a change log of a DataFrame. All of it are Spark
expressions; two functions on Arrow columns remain, for what the JVM cannot print: FLOAT and JSON text.

What a column is made from: integers and booleans for integer and BIT columns (``decimal(20,0)`` above the
signed range), decimals for DECIMAL, numbers for FLOAT and DOUBLE, ``date`` for DATE, ``timestamp`` (an
instant; a DATETIME shows it in Spark's session time zone) or ``timestamp_ntz`` (a wall clock; UTC for a
TIMESTAMP), text for strings, TIME and JSON, binary for byte strings, names as defined or numbers for ENUM
and SET, integers for YEAR. Any other type is refused: cast it.
"""

from ticdc_producer.scenario.dataframe.changes import changes
from ticdc_producer.scenario.dataframe.tables import Tables, UnknownTable, tables

__all__ = ["Tables", "UnknownTable", "changes", "tables"]
