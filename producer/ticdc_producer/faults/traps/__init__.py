"""The traps of this package, one class each, in modules by subject."""

from __future__ import annotations

from collections.abc import Iterator

from ticdc_producer.faults.trap import Trap
from ticdc_producer.faults.traps import (
    definitions,
    delivery_defects,
    messages,
    redelivery,
    row_defects,
    values,
)
from ticdc_producer.faults.traps import definitions as settings
from ticdc_producer.faults.traps import messages as batches

_MODULES = (
    messages, redelivery, batches, settings, delivery_defects, row_defects, values, definitions
)  # fmt: skip


def built_in() -> Iterator[type[Trap]]:
    """The classes of these modules that have an id, in the order in which they are written."""
    for module in _MODULES:
        for found in vars(module).values():
            if isinstance(found, type) and issubclass(found, Trap) and found.__module__ == module.__name__:
                yield found
