"""The options of writing with the format ``ticdc``, each declared once."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from pyspark_ticdc.options import BOOTSTRAP, GivenOptions, SourceOption, Use, given_options
from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ArgumentError
from ticdc_producer.local_path import local_path
from ticdc_producer.model.option_type import Boolean, IntRange, Text
from ticdc_producer.model.tso import DEFAULT_EVERY_MS, DEFAULT_START, MAX_TS
from ticdc_producer.simulate.prepare import changefeed_of

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
    values = options.values
    targets = [name for name in ("sink-uri", "path", BOOTSTRAP) if values.get(name) is not None]
    if len(targets) != 1:
        what = f"give exactly one target: the options {BOOTSTRAP!r} and 'topic', or 'sink-uri', or 'path'"
        raise ArgumentError(what, argument=targets[-1] if targets else BOOTSTRAP)
    if targets == [BOOTSTRAP] and values["topic"] is None:
        raise ArgumentError(f"option {BOOTSTRAP!r} requires the option 'topic'", argument="topic")
    if (values["ddl"] is None) == (values["ddl-file"] is None):
        what = "give the table's definition: the option 'ddl' with CREATE TABLE, or 'ddl-file'"
        raise ArgumentError(what, argument="ddl")
    if use == "writeStream" and values["checkpointLocation"] is None:
        what = "a stream requires the option 'checkpointLocation': it is what makes a batch known again"
        raise ArgumentError(what, argument="checkpointLocation")
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
