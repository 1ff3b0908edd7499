"""Commit-ts, and TIMESTAMP values in the changefeed's time zone."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pipeline.small_changes import change, images
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.model.values.temporal_text import local_timestamp, zone_of
from ticdc_producer.pipeline.delivery import commit, commit_ts
from ticdc_producer.pipeline.row_images import local_texts, localise
from ticdc_producer.simulate.change_log import change_batch

AT = b"2021-07-01 12:00:00"
ZONES = ("Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Africa/Monrovia", "+08:00", "-12:59", "UTC")
TIMES = st.datetimes(datetime(1970, 1, 1, 0, 0, 1), datetime(2038, 1, 19, 3, 14, 7))
FRACTIONS = st.sampled_from(["", ".0", ".5", ".123", ".000001", ".999999"])
TEXTS = st.builds(lambda time, fraction: f"{time:%Y-%m-%d %H:%M:%S}{fraction}".encode(), TIMES, FRACTIONS)


@pytest.mark.parametrize(
    ("zone", "text", "local"),
    [
        ("Europe/Berlin", b"2021-07-01 12:00:00", b"2021-07-01 14:00:00"),
        ("Europe/Berlin", b"2021-12-31 23:30:00.50", b"2022-01-01 00:30:00.50"),
        ("Europe/Berlin", b"2021-10-31 01:30:00", b"2021-10-31 02:30:00"),
        ("+05:30", b"2021-07-01 12:00:00.000001", b"2021-07-01 17:30:00.000001"),
        ("-12:59", b"1970-01-01 00:00:01", b"1969-12-31 11:01:01"),
        ("+08:00", b"0000-00-00 00:00:00", b"0000-00-00 00:00:00"),
        ("+08:00", b"0000-00-00 00:00:00.000", b"0000-00-00 00:00:00.000"),
        ("+08:00", None, None),
    ],
)
def test_a_timestamp_in_a_zone(zone: str, text: Value, local: Value) -> None:
    assert local_texts(pa.array([text], pa.binary()), zone).to_pylist() == [local]


@given(st.lists(st.none() | st.just(b"0000-00-00 00:00:00.0") | TEXTS), st.sampled_from(ZONES))
def test_columns_are_converted_as_single_values_are(texts: list[Value], zone: str) -> None:
    wanted = [local_timestamp(text, zone_of(zone)) for text in texts]
    assert local_texts(pa.array(texts, pa.binary()), zone).to_pylist() == wanted


def _table(version: int, *kinds: MySQLType) -> TableInfo:
    columns = tuple(ColumnInfo(name=f"c{index}", type=kind) for index, kind in enumerate(kinds))
    return TableInfo(schema="test", name="t", table_id=100, version=version, columns=columns)


TABLES = (
    _table(0, MySQLType.DATETIME, MySQLType.TIMESTAMP),
    _table(1, MySQLType.TIMESTAMP, MySQLType.VARCHAR, MySQLType.TIMESTAMP),
    _table(2, MySQLType.VARCHAR),
)


def test_only_timestamp_columns_are_converted_in_both_images() -> None:
    log = change_batch(
        [
            change(b"a", None, [AT, AT]),
            change(b"b", [AT, None], [AT, AT]),
            change(b"c", [AT, AT, AT], None, table_version=1),
            change(b"d", None, [AT], table_version=2),
        ]
    )
    local = localise(log, TABLES, "+01:00")
    in_zone = b"2021-07-01 13:00:00"
    assert local["before"].to_pylist() == [None, [AT, None], [in_zone, AT, in_zone], None]
    assert local["after"].to_pylist() == [[AT, in_zone], [AT, in_zone], None, [AT]]
    assert local.drop_columns(["before", "after"]) == log.drop_columns(["before", "after"])
    assert local.schema == log.schema


@pytest.mark.parametrize("zone", ["UTC", "utc", "Z", "+00:00"])
def test_utc_changes_nothing(zone: str) -> None:
    log = change_batch([change(b"a", None, [AT, AT])])
    assert localise(log, TABLES, zone) is log


def test_a_change_log_without_rows_of_the_tables_stays_as_it_is() -> None:
    log = change_batch([change(b"d", None, [AT], table_version=2)])
    assert localise(log, TABLES, "+01:00")["after"] == images([[AT]])


@given(
    st.integers(1, 10_000_000),
    st.dictionaries(st.integers(0, 20), st.integers(1, 1 << 62)),
    st.lists(st.integers(0, 30)),
)
def test_each_commit_has_the_commit_ts_of_the_clock(
    every_us: int, pinned: dict[int, int], commits: list[int]
) -> None:
    clock = CommitClock(every_us=every_us, pinned=pinned)
    wanted = [clock.ts(number) for number in commits]
    assert commit_ts(clock, np.array(commits, np.int64)).tolist() == wanted
    changes = change_batch([change(b"k", None, [], commit_seq=number) for number in commits])
    assert commit(changes, clock)["commit_ts"].to_pylist() == wanted
