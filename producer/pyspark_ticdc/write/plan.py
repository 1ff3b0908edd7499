"""The options of writing with the format ``ticdc``, each declared once; what they and the columns mean."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

from pyspark.sql.types import StructType

from pyspark_ticdc.options import BOOTSTRAP, GivenOptions, SourceOption, Use, given_options
from pyspark_ticdc.rules import TARGET, check_combinations
from pyspark_ticdc.write.staging import StagingFolder
from ticdc_producer.config import Changefeed
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.errors import ArgumentError
from ticdc_producer.local_path import local_path
from ticdc_producer.model.option_type import Boolean, IntRange, Text
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import DEFAULT_EVERY_MS, DEFAULT_START, MAX_TS, CommitClock
from ticdc_producer.scenario.dataframe import Tables, tables
from ticdc_producer.scenario.dataframe.change_form import ChangeForm
from ticdc_producer.scenario.dataframe.row_histories import OldRows, RowHistories

WRITES: tuple[Use, ...] = ("write", "writeStream")
_BATCH: tuple[Use, ...] = ("write",)
_STREAM: tuple[Use, ...] = ("writeStream",)
_LONGEST_MS = 365 * 24 * 3_600_000
_DEFAULT_TOPIC = "changes"

WRITE_OPTIONS = (
    SourceOption(
        name=BOOTSTRAP, value=Text(), uses=WRITES,
        help="Addresses of the brokers, `HOST:PORT,HOST:PORT`; requires `topic`.",
    ),
    SourceOption(
        name="topic", value=Text(), uses=WRITES, help="The topic that is written, or the topic of a folder.",
    ),
    SourceOption(
        name="sink-uri", value=Text(), uses=WRITES,
        help="TiCDC's sink URI of a topic or storage, in place of the two options above.",
    ),
    SourceOption(
        name="path", value=Text(), uses=_BATCH,
        help="The golden folder that is written; also the argument of `save`.",
    ),
    SourceOption(name="config", value=Text(), uses=WRITES, help="A changefeed file of TiCDC."),
    SourceOption(
        name="ddl", value=Text(), uses=WRITES, help="The CREATE TABLE statements, which are sent first.",
    ),
    SourceOption(
        name="ddl-file", value=Text(), uses=WRITES, help="A file with these statements, in place of `ddl`.",
    ),
    SourceOption(
        name="table", value=Text(), uses=WRITES, help="The table of the rows, if `ddl` has several tables.",
    ),
    SourceOption(
        name="op", value=Text(), uses=WRITES,
        help="Column with the operation; default: `_change_type` if the rows have it, else `op`.",
    ),
    SourceOption(
        name="before", value=Text(), uses=WRITES,
        help="Struct column with the old row of updates; default: `before` if the rows have it.",
    ),
    SourceOption(
        name="commit-ts", value=Text(), uses=WRITES,
        help="Column with the commit-ts; default: `_commit_version` or `commit_ts` if the rows have it.",
    ),
    SourceOption(
        name="txn", value=Text(), uses=WRITES,
        help="Column with the number of the transaction, from 0, in place of a commit-ts; default: `txn` if "
        "the rows have it.",
    ),
    SourceOption(
        name="position", value=Text(), uses=WRITES,
        help="Column with the position in the transaction; default: `position` if the rows have it.",
    ),
    SourceOption(
        name="start", value=IntRange(1, MAX_TS), uses=WRITES, default=DEFAULT_START,
        help="TSO of the first DDL.",
    ),
    SourceOption(
        name="every-ms", value=IntRange(1, _LONGEST_MS), uses=WRITES, default=DEFAULT_EVERY_MS,
        help="Milliseconds between two transactions, or between two batches without `txn` and `commit-ts`.",
    ),
    SourceOption(
        name="append", value=Boolean(), uses=_STREAM, default=False,
        help="A new query continues a topic that another query of the same changefeed has written.",
    ),
    SourceOption(
        name="staging", value=Text(), uses=WRITES,
        help="Folder, shared by driver and executors, for the rows of a batch until they are written; "
        "default: `ticdc` in the checkpoint location, in a batch query a temporary folder.",
    ),
    SourceOption(
        name="checkpointLocation", value=Text(), uses=_STREAM, help="The checkpoint location of the query.",
    ),
)  # fmt: skip
"""All options but the properties of Kafka's clients and TiCDC's parameters, in the order of the page."""


def write_options(given: Mapping[str, str], use: Use) -> GivenOptions:
    """Check the options of a query that writes.

    :raises ArgumentError: as ``given_options``, and for a query without a target or table.
    """
    options = given_options(given, use, declared=WRITE_OPTIONS)
    check_combinations(TARGET, options, use)
    return options


def changefeed_to_write(options: GivenOptions) -> Changefeed:
    """Return the changefeed of options.

    :raises ChangefeedError: for options that TiCDC or this package rejects.
    """
    values = options.values
    uri, config = values["sink-uri"], values["config"]
    if uri is None:
        topic = quote(str(values["topic"] or _DEFAULT_TOPIC))
        uri = options.with_parameters(f"kafka://{values[BOOTSTRAP] or ''}/{topic}")
    file = None if config is None else str(config)
    return changefeed_of(str(uri), file, kafka_properties=options.kafka_properties)


def ddl_text(options: GivenOptions) -> str:
    """Return the statements that define the tables.

    :raises ArgumentError: for a file that cannot be read.
    """
    file = options.values["ddl-file"]
    if file is None:
        return str(options.values["ddl"])
    try:
        return local_path(str(file)).read_text("utf-8")
    except (OSError, ValueError) as error:
        what = f"option 'ddl-file': {file} cannot be read: {error}"
        raise ArgumentError(what, argument="ddl-file") from None


CHANGE_TYPE, VERSION, TIMESTAMP = "_change_type", "_commit_version", "_commit_timestamp"
"""The columns of Spark's change data capture."""


@dataclass(frozen=True, kw_only=True)
class WritePlan:
    """The settings of a query; small.

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
