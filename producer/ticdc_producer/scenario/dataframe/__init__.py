"""Change logs from users' typed DataFrames of any size: one DataFrame per table, one row per row change.

``tables`` reads CREATE TABLE statements; ``changes`` converts a DataFrame of Spark to a change log. The
conversions are functions on Arrow columns.

Accepted Spark types: integers and booleans for integer and BIT columns (``decimal(20,0)`` above the
signed range), decimals for DECIMAL, numbers for FLOAT and DOUBLE, ``date`` for DATE, ``timestamp`` (an
instant; a DATETIME has its wall clock in Spark's session time zone) or ``timestamp_ntz`` (a wall clock; UTC
for a TIMESTAMP), text for strings, TIME and JSON, binary for byte strings, names as defined or numbers for
ENUM and SET, integers for YEAR. Any other type is refused: cast it.
"""

from ticdc_producer.scenario.dataframe.changes import changes
from ticdc_producer.scenario.dataframe.tables import Tables, UnknownTable, tables

__all__ = ["Tables", "UnknownTable", "changes", "tables"]
