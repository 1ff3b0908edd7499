"""The verification options that follow from a changefeed and its protocol.

TiCDC hashes the names of database, table and columns to choose a partition. A reader of altered names gets
another hash, which is not a violation.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ticdc_producer.config import Changefeed
from ticdc_producer.dispatch.rules import Router
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.fidelity import Fidelity, has_commit_ts
from ticdc_producer.model.table import TableInfo
from ticdc_producer.oracle.comparable_tables import uncomparable_histories
from ticdc_producer.simulate.job import Job
from ticdc_producer.verifier.options import ExpectedDispatch, Strictness, VerifyOptions

_SUBSTITUTE = "_"


@dataclass(frozen=True, slots=True)
class ObservedNames:
    """The names in a stream, and their differences from the original names.

    :param changed: whether the protocol alters some names.
    :param same: by (schema, table) the tables whose names are unaltered; the value says whether their column
        names are as well. None if the tables are unknown.
    """

    changed: bool
    same: dict[tuple[str, str], bool] | None = None

    def match_hashed(self, schema: str, table: str, *, by_column: bool) -> bool:
        """Return whether a table's names in the stream equal the names that TiCDC hashed.

        :param by_column: whether column names are hashed as well.
        """
        if not self.changed:
            return True
        if self.same is None:  # a name without the substitute character is unaltered
            return not by_column and _SUBSTITUTE not in schema + table
        return (schema, table) in self.same and (not by_column or self.same[schema, table])


def observed_names(fidelity: Fidelity, catalog: Catalog | None) -> ObservedNames:
    """Return the names as they stand in the messages of a protocol.

    :param catalog: the tables; None if they are unknown.
    """
    if fidelity.visible_name("-") == "-":
        return ObservedNames(changed=False)
    if catalog is None:
        return ObservedNames(changed=True)
    same: dict[tuple[str, str], bool] = {}
    ambiguous: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for table in catalog.tables:
        real = table.schema, table.name
        observed = fidelity.visible_name(table.schema), fidelity.visible_name(table.name)
        ambiguous.setdefault(observed, set()).add(real)
        same[observed] = same.get(observed, True) and _columns_stay(fidelity, table)
    return ObservedNames(
        changed=True,
        same={observed: same[observed] for observed, real in ambiguous.items() if real == {observed}},
    )


def _columns_stay(fidelity: Fidelity, table: TableInfo) -> bool:
    return all(fidelity.visible_name(column.name) == column.name for column in table.sent_columns)


class TableDispatch:
    """The dispatch rule of each table that a reader of the messages can know."""

    def __init__(
        self,
        changefeed: Changefeed,
        fidelity: Fidelity,
        names: ObservedNames,
        catalog: Catalog | None = None,
    ) -> None:
        self._router = Router(changefeed)
        self._upstream = _upstream_names(catalog) if changefeed.routes_tables else None
        self._fidelity = fidelity
        self._names = names

    @property
    def default_topic(self) -> str:
        """The topic of DDLs without table."""
        return self._router.default_topic

    def __call__(self, schema: str, table: str) -> ExpectedDispatch | None:
        """Return the rule of a table, which is that of its name upstream; None if it is unknown."""
        own = (schema, table) if self._upstream is None else self._upstream.get((schema, table))
        if own is None:
            return None
        route = self._router.rule_of(*own)
        by_column = route.rule in ("index-value", "columns")
        if not self._names.match_hashed(schema, table, by_column=by_column):
            return None
        if route.rule == "ts" and not has_commit_ts(self._fidelity.commit_ts):
            return None
        if route.index:
            return None  # the stream does not carry the columns of the index
        columns = route.columns if route.rule == "columns" else None
        topic = self._router.ddl_topic("", "", *own)
        return ExpectedDispatch(schema=own[0], table=own[1], rule=route.rule, columns=columns, topic=topic)


def _upstream_names(catalog: Catalog | None) -> dict[tuple[str, str], tuple[str, str] | None]:
    """Return the name upstream by the name of a table in messages; None if several tables had the name.

    :param catalog: None if the tables are unknown.
    """
    names: dict[tuple[str, str], tuple[str, str] | None] = {}
    for table in () if catalog is None else catalog.tables:
        sent, own = (table.schema, table.name), table.upstream_name
        names[sent] = own if names.get(sent, own) == own else None
    return names


def verify_options(
    changefeed: Changefeed,
    fidelity: Fidelity,
    topics: Collection[str],
    strictness: Strictness,
    job: Job | None = None,
    skipped: Collection[str] = (),
) -> VerifyOptions:
    """Return the verification options that follow from a changefeed.

    :param topics: the topics that are read.
    :param job: the scenario; None if it is unknown.
    :param skipped: ``schema.table`` of tables with rejected rows.
    """
    catalog = None if job is None else job.history.catalog
    rules = TableDispatch(changefeed, fidelity, observed_names(fidelity, catalog), catalog)
    return VerifyOptions(
        fidelity=fidelity,
        profile=changefeed.profile,
        rules=rules,
        partitions={topic: changefeed.partitions_of(topic) for topic in topics},
        ddl_broadcast=changefeed.ddl_to_all_partitions,
        strict_table_order=strictness.strict_table_order,
        raw_key_update=changefeed.output_raw_change_event,
        max_batch_size=changefeed.most_batch_rows,
        max_message_bytes=changefeed.most_batch_bytes,
        partitioned=None if catalog is None or fidelity.has_table_ids else _partitioned(catalog),
        uncomparable=_uncomparable(changefeed, job, skipped),
        from_beginning=strictness.from_beginning,
        force_replicate=changefeed.force_replicate,
        batched=changefeed.batches_rows,
        batched_by_key=changefeed.batch_by != "partition",
        default_topic=rules.default_topic,
        resolved_gap_ms=strictness.resolved_gap_ms,
        examples=strictness.examples,
    )


def _partitioned(catalog: Catalog) -> frozenset[str]:
    return frozenset(table.qualified_name for table in catalog.tables if table.partitions)


def _uncomparable(changefeed: Changefeed, job: Job | None, skipped: Collection[str]) -> frozenset[str] | None:
    """Return the tables whose changes the stream does not carry completely; None if it carries no DDL."""
    if job is not None:
        return frozenset(skipped).union(uncomparable_histories(job))
    return frozenset(skipped) if changefeed.output_ddl else None
