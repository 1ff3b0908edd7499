"""Local times that clocks skip or repeat are the moments that TiDB takes."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import TZPATH, available_timezones

import pytest

from ticdc_producer.model.values.temporal_text import convert_zone, datetime_from_python, zone_of

PROGRAM = Path(__file__).with_name("local_times.go")
ZONES_OF_SYSTEM = next((folder for folder in TZPATH if Path(folder).is_dir()), "")
GO = shutil.which("go")


def moment(zone: str, local: datetime) -> datetime | None:
    """The moment of a local time, which is given as if it were UTC."""
    converted = convert_zone(datetime_from_python(local, 0), zone_of(zone), UTC)
    return None if converted is None else converted.naive().replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "local", "utc"),
    [
        # skipped: the change itself
        ("Europe/Dublin", "2021-03-28 01:15:00", "2021-03-28 01:00:00"),
        ("Australia/Lord_Howe", "2023-10-01 02:15:00", "2023-09-30 15:30:00"),
        ("America/St_Johns", "2008-03-09 00:30:59", "2008-03-09 03:31:00"),
        ("Antarctica/Troll", "2022-03-27 02:29:59", "2022-03-27 01:00:00"),
        ("Asia/Pyongyang", "2018-05-04 23:45:00", "2018-05-04 15:00:00"),
        ("Pacific/Apia", "2011-12-30 22:00:00", None),
        # repeated: the first time west of UTC, the second one in and east of it
        ("America/New_York", "2021-11-07 01:30:00", "2021-11-07 05:30:00"),
        ("Europe/Dublin", "2021-10-31 01:30:00", "2021-10-31 01:30:00"),
        ("Australia/Lord_Howe", "2023-04-02 01:45:00", "2023-04-01 15:15:00"),
        ("Africa/Casablanca", "2023-03-19 02:15:00", "2023-03-19 02:15:00"),
    ],
)
def test_a_local_time_that_clocks_skip_or_repeat(zone: str, local: str, utc: str | None) -> None:
    """The moments are those of ``local_times.go``."""
    expected = None if utc is None else datetime.fromisoformat(utc).replace(tzinfo=UTC)
    assert moment(zone, datetime.fromisoformat(local).replace(tzinfo=UTC)) == expected


@pytest.mark.slow
@pytest.mark.skipif(GO is None or not ZONES_OF_SYSTEM, reason="not run: no go on the PATH, or no zones")
def test_all_zones_have_the_moments_of_go() -> None:
    """Go and Python read the same files, because their own copies may be of different years."""
    zones = "\n".join(sorted(available_timezones()))
    output = subprocess.run(
        ["go", "run", PROGRAM],
        input=zones,
        env={**os.environ, "ZONEINFO": ZONES_OF_SYSTEM, "GO111MODULE": "off"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    lines = output.splitlines()
    assert len(lines) > 400_000
    for line in lines:
        zone, local, utc = line.split()
        expected = datetime.fromtimestamp(int(utc), UTC)
        assert moment(zone, datetime.fromtimestamp(int(local), UTC)) == expected, line
