"""Distributes rows to messages.

TiCDC ends a message after the row that exceeds one of the limits, so no row is ever too large. Source:
tiflow ``craft_encoder.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ticdc_producer.protocols.arrow_text import Numbers, as_int64
from ticdc_producer.protocols.batching import Limits, batched
from ticdc_producer.protocols.craft.options import CraftOptions
from ticdc_producer.protocols.craft.plan import RowForm
from ticdc_producer.protocols.craft.row_messages import row_messages
from ticdc_producer.protocols.encoded_rows import EncodedRows
from ticdc_producer.protocols.message_batch import MessageBatch


def messages(
    rows: Iterable[EncodedRows], forms: Sequence[RowForm], options: CraftOptions
) -> Iterator[MessageBatch]:
    """Messages of consecutive rows, each of one batch key.

    :param forms: the row forms that the rows' ``form`` column indexes.
    :raises EncodeError: for the first row that TiCDC rejects.
    """
    limits = Limits(rows=options.max_batch_size, size=options.max_message_bytes, rows_beyond=1)
    for batch in batched(rows, _estimates, limits, by_batch_key=options.batch_by != "partition"):
        yield row_messages(batch, forms)


def _estimates(rows: EncodedRows) -> Numbers:
    return as_int64(rows.column("estimate"))
