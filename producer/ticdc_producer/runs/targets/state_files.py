"""The files of a golden folder with the rows of each table: ``state/``, ``state.at/`` and ``snapshot/``.

The manifest has the sums of the rows of each file, so that ``verify state`` need not read the file if the
consumer's table has the same sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset
from ticdc_producer.model.shapes import IMAGE
from ticdc_producer.model.table import TableInfo, table_json
from ticdc_producer.runs.targets import snapshot_files
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.simulate.state import TableSnapshot, commits_at, sql_tables, state_at_start
from ticdc_producer.targets.golden.json_lines import state_lines
from ticdc_producer.targets.golden.write import write_state
from ticdc_producer.verifier.consumer_state.row_sums import RowSums, sums_json, sums_of_images, total

TableBatches: TypeAlias = tuple[TableInfo, Iterable[pa.RecordBatch]]
"""A table, and its rows in the shape ``STATE_LINES``."""
STATE_LINES = pa.schema([("lines", pa.binary()), ("sums", pa.string())])
"""The lines of some rows, and their sums as text; NULL for rows that have none."""


@dataclass
class StateFiles:
    """The files that were written.

    :ivar tables: the definition of the table of each file.
    :ivar sums: the sums of the rows of each file, as the manifest has them; rows may have none.
    """

    tables: dict[str, dict[str, object]] = field(default_factory=dict)
    sums: dict[str, dict[str, object]] = field(default_factory=dict)


def write_states(folder: Path, simulation: Simulation, at_start: Sequence[TableSnapshot]) -> StateFiles:
    """Write the expected rows at the end and at the ``state_at`` time stamps, and those of the snapshot.

    :param folder: the golden folder.
    :param at_start: the tables of the snapshot.
    """
    job, files = simulation.job, StateFiles()
    moments: list[tuple[int | None, Path, Iterator[TableBatches]]]
    moments = [(None, folder / "state", _in_key_order(simulation, None))]
    moments += [(ts, folder / "state.at" / str(ts), _in_key_order(simulation, ts)) for ts in job.state_at]
    if job.start_ts is not None:
        moments.append((job.start_ts, folder / snapshot_files.FOLDER, _at_start(job, at_start)))
    for ts, state_folder, of_sources in moments:
        state_folder.mkdir(parents=True, exist_ok=True)  # even without tables at this time
        of_sql = ((table, [state_batch(table, pa.array(rows, IMAGE))]) for table, rows in sql_tables(job, ts))
        for table, batches in chain(of_sql, of_sources):
            sums: list[str | None] = []
            file = write_state(state_folder, table, _lines(batches, sums))
            name = file.relative_to(folder).as_posix()
            files.tables[name] = table_json(table)
            if None not in sums:
                files.sums[name] = sums_json(total(RowSums.of_text(text) for text in sums if text))
    return files


def state_batch(table: TableInfo, images: pa.Array) -> pa.RecordBatch:
    """Return rows of a table in the shape ``STATE_LINES``.

    :param images: shape ``IMAGE``.
    """
    sums = sums_of_images(table.sent_columns, images)
    texts = [None if sums is None else sums.to_text()]
    return pa.record_batch(
        [pa.array([state_lines(table, images)], pa.binary()), pa.array(texts, pa.string())],
        schema=STATE_LINES,
    )


def _lines(batches: Iterable[pa.RecordBatch], sums: list[str | None]) -> Iterator[bytes]:
    """Yield the lines of batches, and append their sums to a list."""
    for batch in batches:
        sums += batch.column("sums").to_pylist()
        yield from batch.column("lines").to_pylist()


def _in_key_order(simulation: Simulation, ts: int | None) -> Iterator[TableBatches]:
    """Yield the tables of the scenario's other sources and their rows at a time.

    Parts make the lines, and this process writes them.
    """
    for changes in simulation.log.sources:
        for table, rows in changes.rows(simulation.engine, simulation.job, commits_at(simulation.job, ts)):
            yield table, _batches_of(table, rows.in_order("row_key"))


def _at_start(job: Job, tables: Iterable[TableSnapshot]) -> Iterator[TableBatches]:
    """Yield the tables of the scenario's other sources and their rows at the start-ts."""
    for of_table in tables:
        if not of_table.of_sql and of_table.table.version in job.stream.fully_replicated_versions:
            table, rows = state_at_start(job, of_table)
            yield table, _batches_of(table, rows)


def _batches_of(table: TableInfo, rows: Dataset) -> Batches:
    return rows.map(partial(_state_batches, table), STATE_LINES).batches()


def _state_batches(table: TableInfo, batches: Batches) -> Batches:
    for batch in batches:
        yield state_batch(table, batch.column("row"))
