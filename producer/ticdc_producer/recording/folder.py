"""The folder of a recording: ``scenario.yaml``, and the rows as Parquet."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.config.changefeed_toml import changefeed_toml, sink_uri_with_options
from ticdc_producer.config.sink_uri import parse_sink_uri
from ticdc_producer.engine.external_sort import SORTED_ROWS
from ticdc_producer.engine.spool import grouped_batches
from ticdc_producer.model.parameter import SinkKind
from ticdc_producer.model.shapes import RECORDED_FAULTS
from ticdc_producer.recording.history import RECORDED
from ticdc_producer.scenario.recordings import SCENARIO_FILE
from ticdc_producer.scenario.scenario import literal, plain_values, yaml_text

ROWS, FAULTS = "changes.parquet", "faults.parquet"
_GROUP_BYTES = 64 << 20
"""Least bytes of a row group of Parquet with few rows. Small groups cost a fifth more time."""
_REPEATED = ["statement", "op", "schema", "table", *(f"{side}.key_value.key" for side in ("before", "after"))]
"""The columns with few different values. Statistics and dictionaries of others cost a tenth of the time."""
_SETTINGS = "SET sql_mode = '', foreign_key_checks = 0"
"""The upstream has accepted the statements and rows already, under settings that no message has."""
_STRICT = "SET sql_mode = 'STRICT_ALL_TABLES', foreign_key_checks = 0"
"""For values of another server: one that does not fit its column is an error."""


class FaultWriter:
    """A writer of the events that came again (shape ``RECORDED_FAULTS``); without any there is no file.

    :ivar count: their number.
    """

    def __init__(self, folder: Path) -> None:
        self._file, self.count = folder / FAULTS, 0
        self._writer: parquet.ParquetWriter | None = None

    def __enter__(self) -> FaultWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def write(self, batch: pa.RecordBatch) -> None:
        """Write some of them."""
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._file, RECORDED_FAULTS, compression="zstd")
        self._writer.write_batch(batch)
        self.count += batch.num_rows


def write_rows(folder: Path, batches: Iterable[pa.RecordBatch], schema: pa.Schema = RECORDED) -> int:
    """Write the rows of a recording.

    :param schema: of the batches.
    :return: their number.
    """
    number = 0
    with parquet.ParquetWriter(
        folder / ROWS,
        schema,
        compression="zstd",
        use_dictionary=_REPEATED,
        write_statistics=["commit_ts"],
    ) as writer:
        for group in grouped_batches(batches, SORTED_ROWS, _GROUP_BYTES):
            rows = pa.Table.from_batches(group)
            writer.write_table(rows, row_group_size=max(rows.num_rows, 1))
            number += rows.num_rows
    return number


def write_scenario(
    folder: Path,
    name: str,
    changefeed: Changefeed,
    *,
    has_resolved: bool,
    force_replicate: bool,
    has_faults: bool = False,
    start_ts: int | None = None,
    canonical: bool = True,
) -> Path:
    """Write the scenario of a recording.

    :param changefeed: of the messages; the recording has its options and dispatch rules, and no broker.
    :param has_resolved: whether resolved events were recorded; otherwise one follows each transaction.
    :param force_replicate: whether rows of a table without a handle key were recorded.
    :param has_faults: whether events came again.
    :param start_ts: TSO up to which rows and DDLs are those of the snapshot; None: there is none.
    :param canonical: whether the rows have canonical values, and DDLs as they were sent.
    :return: its file.
    """
    document = {
        "version": 1,
        "name": name,
        "session": {"time-zone": changefeed.time_zone},
        **({} if start_ts is None else {"start-ts": start_ts}),
        "resolved": {"after": "never" if has_resolved else "transaction"},
        "changefeed": _changefeed(changefeed, force_replicate=force_replicate),
        **({"recorded-faults": FAULTS} if has_faults else {}),
        "steps": [
            {"sql": _SETTINGS if canonical else _STRICT},
            {"changes": {"path": ROWS, **({"canonical": True} if canonical else {})}},
        ],
    }
    file = folder / SCENARIO_FILE
    text = yaml_text({key: plain_values(value) for key, value in document.items()})
    file.write_text(text, "utf-8")
    return file


def _changefeed(changefeed: Changefeed, *, force_replicate: bool) -> dict[str, Any]:
    """Return the changefeed section: no brokers, no storage, no credentials.

    The scenario of a storage sends a topic, in the default protocol if its own has none.
    """
    if changefeed.sink_uri.kind is SinkKind.STORAGE:
        options = f"?protocol={changefeed.protocol}" if SinkKind.KAFKA in changefeed.spec.sinks else ""
        if options and changefeed.enable_tidb_extension:
            options += "&enable-tidb-extension=true"
        changefeed = resolve(f"kafka:///recording{options}")
    else:
        target = parse_sink_uri(f"kafka:///{changefeed.sink_uri.topic}").target
        changefeed = changefeed.model_copy(update={"sink_uri": target, "claim_check_storage_uri": ""})
    content = tomllib.loads(changefeed_toml(changefeed))
    if force_replicate:
        content["force-replicate"] = True
    return {"sink-uri": literal(sink_uri_with_options(changefeed)), **content}
