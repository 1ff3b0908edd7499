"""The traps of this package, one class each, in modules by subject."""

from __future__ import annotations

from collections.abc import Iterator

from ticdc_producer.faults.trap import Trap
from ticdc_producer.faults.traps import defects, definitions, messages, redelivery, settings, values

_MODULES = (messages, redelivery, settings, defects, values, definitions)


def built_in() -> Iterator[type[Trap]]:
    """Yield the classes of these modules that have an id, in the order in which they are written."""
    for module in _MODULES:
        for member in vars(module).values():
            if isinstance(member, type) and issubclass(member, Trap) and member.__module__ == module.__name__:
                yield member
