"""What the options and columns of a query that writes mean."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from pyspark.sql.types import StructType

from pyspark_ticdc.options import GivenOptions, Use
from pyspark_ticdc.write.options import ddl_text, write_options
from pyspark_ticdc.write.staging import StagingFolder
from ticdc_producer.errors import ArgumentError
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.scenario.dataframe import Tables, tables
from ticdc_producer.scenario.dataframe.change_form import ChangeForm
from ticdc_producer.scenario.dataframe.row_histories import OldRows, RowHistories

CHANGE_TYPE, VERSION, TIMESTAMP = "_change_type", "_commit_version", "_commit_timestamp"
"""The columns of Spark's change data capture."""


@dataclass(frozen=True, kw_only=True)
class WritePlan:
    """What a query writes; small.

    :param form: the meaning of the columns.
    :param times: whether the numbers of ``form`` are commit-ts, or of transactions, or are missing.
    """

    options: GivenOptions
    tables: Tables
    form: ChangeForm
    times: str
    staging: StagingFolder

    @property
    def clock(self) -> CommitClock:
        """The commit clock; with commit-ts of the rows a commit per TSO."""
        values = self.options.values
        every_us = 0 if self.times == "commit-ts" else 1000 * int(str(values["every-ms"]))
        return CommitClock(start=int(str(values["start"])), every_us=every_us)

    @property
    def histories(self) -> RowHistories:
        """The rule that completes the changes of all tasks."""
        old_rows: OldRows = "preimages" if self.form.paired else "given" if self.form.before else "previous"
        return RowHistories(self.form.key, old_rows, self.form.number or "the batch")

    def __repr__(self) -> str:
        """Return the table alone: options may hold secrets."""
        return f"WritePlan({self.form.table.qualified_name})"


def write_plan(given: Mapping[str, str], schema: StructType, use: Use) -> WritePlan:
    """Return the plan of a query.

    :param schema: the columns of the rows.
    :raises ProducerError: for invalid options, and for columns that do not fit the table.
    """
    options = write_options(given, use)
    definitions = tables(ddl_text(options))
    form, times = _form(options, _table(options, definitions), schema)
    form.check()
    return WritePlan(
        options=options, tables=definitions, form=form, times=times, staging=_staging(options, use)
    )


def _table(options: GivenOptions, definitions: Tables) -> TableInfo:
    name = options.values["table"]
    if name is not None:
        return definitions[str(name)]
    if len(definitions) != 1:
        what = f"the option 'ddl' has {len(definitions)} tables, and the option 'table' names none"
        raise ArgumentError(
            what, argument="table", hint=f"one of {', '.join(definitions)}" if definitions else ""
        )
    return next(iter(definitions.values()))


def _form(options: GivenOptions, table: TableInfo, schema: StructType) -> tuple[ChangeForm, str]:
    """Return the meaning of the columns, and which numbers they have: of transactions, commit-ts, or none."""
    own = {column.name.lower() for column in table.columns}
    free = [name for name in schema.names if name.lower() not in own]

    def column(option: str, *defaults: str) -> str:
        name = options.values[option]
        return str(name) if name is not None else next((name for name in defaults if name in free), "")

    op = column("op", CHANGE_TYPE) or "op"
    paired = op == CHANGE_TYPE
    commit_ts, txn = column("commit-ts", VERSION, "commit_ts"), column("txn", "txn")
    if commit_ts and txn:
        what = f"columns {commit_ts!r} and {txn!r}: a row has a commit-ts or the number of its transaction"
        raise ArgumentError(what, argument="txn", hint="drop one of the two columns")
    form = ChangeForm(
        table=table,
        schema=schema,
        op=op,
        before="" if paired else column("before", "before"),
        number=commit_ts or txn,
        position="" if paired else column("position", "position"),
        ignored=(TIMESTAMP,) if paired else (),
        paired=paired,
    )
    return form, "commit-ts" if commit_ts else "txn" if txn else "batch"


def _staging(options: GivenOptions, use: Use) -> StagingFolder:
    """Return the folder of the rows of a batch."""
    given, checkpoint = options.values["staging"], options.values.get("checkpointLocation")
    if given is not None:
        # Several batch queries may share the folder.
        return StagingFolder(f"{str(given).rstrip('/')}/{uuid4().hex}" if use == "write" else str(given))
    if checkpoint is not None:
        return StagingFolder(f"{str(checkpoint).rstrip('/')}/ticdc")
    return StagingFolder(str(Path(tempfile.gettempdir(), f"ticdc-producer-{uuid4().hex}")))
