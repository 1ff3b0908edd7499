"""Our xxHash64 against Spark's."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ticdc_producer.model.xx_hash import xx_hash

ROWS = 500
ORDERS = (
    ("short",),
    ("int",),
    ("long",),
    ("bytes",),
    ("text",),
    ("int", "long", "bytes", "text"),
    ("text", "bytes", "text", "short", "long"),
)


def _columns(random: Random) -> dict[str, pa.Array]:
    """Random values of each type, with NULLs; byte strings of all lengths up to several stripes."""

    def values(kind: pa.DataType, *some: object) -> pa.Array:
        return pa.array([None if random.random() < 0.1 else value for value in some], kind)

    lengths = [number % 100 for number in range(ROWS)]
    return {
        "short": values(pa.int8(), *(random.randint(-128, 127) for _ in range(ROWS))),
        "int": values(
            pa.int32(), -(1 << 31), (1 << 31) - 1, *(random.randint(-9, 9) for _ in range(ROWS - 2))
        ),
        "long": values(
            pa.int64(), -(1 << 63), (1 << 63) - 1, *(random.getrandbits(40) for _ in range(ROWS - 2))
        ),
        "bytes": values(pa.binary(), *map(random.randbytes, lengths)),
        "text": values(pa.string(), *("é€"[number % 2] * (number % 50) for number in range(ROWS))),
    }


@pytest.fixture(scope="module")
def columns() -> dict[str, pa.Array]:
    return _columns(Random(5))


@pytest.fixture(scope="module")
def spark_hashes(spark: SparkSession, columns: dict[str, pa.Array]) -> dict[tuple[str, ...], list[int]]:
    rows = spark.createDataFrame(pa.table({"number": pa.array(range(ROWS)), **columns}))
    hashed = [F.xxhash64(*order).alias(str(index)) for index, order in enumerate(ORDERS)]
    literals = F.xxhash64(F.lit(7), "text", F.lit(1 << 40), F.lit("seed"), F.lit(-1)).alias("literals")
    hashes = rows.select("number", *hashed, literals).orderBy("number").toArrow()
    by_order = {order: hashes[str(index)].to_pylist() for index, order in enumerate(ORDERS)}
    return {**by_order, (): hashes["literals"].to_pylist()}


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_columns_are_hashed_as_in_spark(
    spark_hashes: dict[tuple[str, ...], list[int]], columns: dict[str, pa.Array], order: tuple[str, ...]
) -> None:
    hashes = xx_hash(ROWS, *(columns[name] for name in order))
    assert hashes.astype("int64").tolist() == spark_hashes[order]


def test_constants_are_hashed_as_in_spark(
    spark_hashes: dict[tuple[str, ...], list[int]], columns: dict[str, pa.Array]
) -> None:
    hashes = xx_hash(ROWS, 7, columns["text"], 1 << 40, "seed", -1)
    assert hashes.astype("int64").tolist() == spark_hashes[()]


def test_a_slice_is_hashed_without_what_is_around_it(columns: dict[str, pa.Array]) -> None:
    whole = xx_hash(ROWS, columns["int"], columns["bytes"], columns["text"])
    part = xx_hash(90, *(columns[name].slice(123, 90) for name in ("int", "bytes", "text")))
    assert part.tolist() == whole[123:213].tolist()


def test_no_rows_have_no_hashes() -> None:
    assert xx_hash(0, 1, pa.array([], pa.binary()), "seed", pa.array([], pa.int64())).tolist() == []
