"""Stage 3b: large transactions with a split update, in the order that Go's unstable sort leaves.

TiCDC sorts the rows of a table in a transaction again, by kind alone, once it has split an update.
Up to 12 rows that is the stable order of ``split``; above, ``go_sort`` says. Which transactions are that
large is known where a scenario was played on the driver; a stream made from DataFrames keeps the stable
order, which TiCDC allows as well: it promises none inside a kind.

Source: tiflow ``TrySplitAndSortUpdateEvent`` (``sort.Sort`` of ``txnRows``).
"""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.pipeline.go_sort import go_sorted

_NEW_PLACES = "commit_ts long, place binary, new_place binary"
_TABLE, _KIND, _KIND_BEFORE = slice(0, 8), slice(8, 9), slice(9, 10)


def unstable_order(placed: DataFrame, crowded: Collection[tuple[int, int]]) -> DataFrame:
    """Rows with the ``place`` that ``split`` gave them, renumbered in the transactions named.

    :param crowded: commit-ts and physical table id of transactions that may be this large; small.
    """
    if not crowded:
        return placed
    spark = placed.sparkSession
    keys = F.broadcast(spark.createDataFrame(sorted(crowded), "commit_ts long, table_id long"))
    wanted = placed.join(keys, ["commit_ts", "table_id"], "left_semi").select(
        "commit_ts", "table_id", "place"
    )
    places = wanted.groupBy("commit_ts", "table_id").applyInArrow(_renumbered, _NEW_PLACES)
    joined = placed.join(F.broadcast(places), ["commit_ts", "place"], "left")
    place = F.coalesce("new_place", "place")
    return joined.withColumn("place", place).select(*placed.columns)


def _renumbered(group: pa.Table) -> pa.Table:
    """One table of one transaction: the place of each row, and its new one."""
    before = sorted(group["place"].to_pylist(), key=_before_sorting)
    is_split = any(place[_KIND] != place[_KIND_BEFORE] for place in before)
    order = go_sorted([place[_KIND][0] for place in before]) if is_split else range(len(before))
    sorted_places = [before[at] for at in order]
    numbered = [place[_TABLE] + n.to_bytes(8, "big") for n, place in enumerate(sorted_places)]
    columns = [
        pa.array([group["commit_ts"][0].as_py()] * len(before), pa.int64()),
        pa.array(sorted_places, pa.binary()),
        pa.array(numbered, pa.binary()),
    ]
    return pa.Table.from_arrays(columns, names=["commit_ts", "place", "new_place"])


def _before_sorting(place: bytes) -> tuple[bytes, bytes]:
    """As the sorter hands them over, the halves of a split side by side, the delete first."""
    return place[_KIND_BEFORE] + place[10:], place[_KIND]
