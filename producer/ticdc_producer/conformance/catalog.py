"""What can be asked, of both levels. Cases are built one by one: the first needs no Spark for it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeAlias

from ticdc_producer.conformance.apply_spec import Applying, applyings
from ticdc_producer.conformance.case import Case, build
from ticdc_producer.conformance.decode_spec import Telling, tellings
from ticdc_producer.conformance.level import Level

if TYPE_CHECKING:
    from ticdc_producer.conformance.apply_case import ApplyCase

Asked: TypeAlias = Telling | Applying
AnyCase: TypeAlias = "Case | ApplyCase"


def asked(levels: Collection[Level]) -> tuple[Asked, ...]:
    """All that some levels ask: single messages first."""
    decode = tellings() if Level.DECODE in levels else ()
    return (*decode, *(applyings() if Level.APPLY in levels else ()))


def built(one: Asked, say: Callable[[str], None]) -> AnyCase:
    """The case.

    :param say: is told when something takes long.
    :raises ProducerError: if Spark does not start, which the apply level needs once.
    """
    if isinstance(one, Telling):
        return build(one)
    from ticdc_producer.conformance.apply_case import build_apply

    return build_apply(one, say)
