"""The tables of a verified stream at its times, for a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Part
from ticdc_producer.engine.local import LocalEngine, local
from ticdc_producer.model.shapes import DECODED, MESSAGES
from ticdc_producer.rows.origin import Origin
from ticdc_producer.runs.copies.copied_tables import CopiedTable, table_names, tables_at, times_of
from ticdc_producer.runs.verification import VerifiedStream

MOST_EVENTS = 20_000
"""Events of a stream whose tables are computed for a report, which holds them in memory."""
MOST_BYTES = 64 << 20
"""Bytes of its messages."""
_MOST_TIMES, _MOST_TABLES, _MOST_ROWS = 50, 50, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedTables:
    """The tables of a stream at some of its times.

    :param times: TSOs: the resolved-ts, without any the commit-ts of the rows; an even selection of many.
    :param resolved: whether they are resolved-ts.
    :param all_times: how many the stream has.
    :param tables: by ``SCHEMA.TABLE``, the first rows at each of the times; the first tables of many.
    :param all_tables: how many the stream has.
    """

    times: Sequence[int] = ()
    resolved: bool = False
    all_times: int = 0
    tables: Mapping[str, Sequence[CopiedTable]] = field(default_factory=dict)
    all_tables: int = 0


def verified_tables(verified: VerifiedStream) -> VerifiedTables:
    """Return the tables of a stream of at most ``MOST_EVENTS`` events; they are in memory meanwhile."""
    events = pa.concat_tables([DECODED.empty_table(), *verified.events.results(_whole)])
    times, resolved = times_of(events, _MOST_TIMES)
    kind = "resolved" if resolved else "row"
    of_kind = events.filter((pc.field("kind") == kind) & (pc.field("commit_ts") > 0))
    names = table_names(events)
    origin = Origin(
        changefeed=verified.changefeed,
        messages=local(LocalEngine().of_batches([], MESSAGES)),
        options=verified.options,
    )
    return VerifiedTables(
        times=times,
        resolved=resolved,
        all_times=len(of_kind.column("commit_ts").unique()),
        tables=tables_at(events, names[:_MOST_TABLES], origin, times, _MOST_ROWS),
        all_tables=len(names),
    )


def _whole(_part: Part, batches: Batches) -> pa.Table:
    return pa.Table.from_batches(batches, DECODED)
