"""What a protocol with its options does not carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

OldValues: TypeAlias = Literal["all", "updated", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """A codec's own account; the expected decode is reduced by it.

    :param sorted_columns: columns come back in the byte order of their names.
    :param old_values: which columns of an update's old image are sent; an update without any reads as
        an insert.
    :param deletes: which columns of a delete are sent.
    :param flags: whether column flags are sent; without them only the handle key is known.
    """

    sorted_columns: bool
    old_values: OldValues = "all"
    deletes: Literal["all", "handle-key"] = "all"
    flags: bool = True
