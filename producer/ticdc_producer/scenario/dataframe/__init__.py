"""Change logs from users' typed DataFrames: one DataFrame per table, one row per row change.

``tables`` reads CREATE TABLE statements; ``changes`` converts a DataFrame to a change log. Conversions are
Spark expressions. The text of FLOAT and JSON is the exception: the JVM cannot print it, so two functions on
Arrow columns do.

Accepted Spark types: integers and booleans for integer and BIT columns (``decimal(20,0)`` above the
signed range), decimals for DECIMAL, numbers for FLOAT and DOUBLE, ``date`` for DATE, ``timestamp`` (an
instant; a DATETIME has its wall clock in Spark's session time zone) or ``timestamp_ntz`` (a wall clock; UTC
for a TIMESTAMP), text for strings, TIME and JSON, binary for byte strings, names as defined or numbers for
ENUM and SET, integers for YEAR. Any other type is refused: cast it.
"""

from ticdc_producer.scenario.dataframe.changes import changes
from ticdc_producer.scenario.dataframe.tables import Tables, UnknownTable, tables

__all__ = ["Tables", "UnknownTable", "changes", "tables"]
