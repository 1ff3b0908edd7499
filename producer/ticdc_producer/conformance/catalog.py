"""All cases of both levels. They are built one by one, so that the decode level never starts Spark."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeAlias

from ticdc_producer.conformance.apply_spec import ApplyCaseSpec, apply_case_specs
from ticdc_producer.conformance.case import Case, build_decode_case
from ticdc_producer.conformance.decode_spec import DecodeCase, decode_cases
from ticdc_producer.conformance.level import Level

if TYPE_CHECKING:
    from ticdc_producer.conformance.apply_case import ApplyCase

CaseSpec: TypeAlias = DecodeCase | ApplyCaseSpec
AnyCase: TypeAlias = "Case | ApplyCase"


def case_specs(levels: Collection[Level]) -> tuple[CaseSpec, ...]:
    """All cases of some levels, not built yet; cases of single messages come first."""
    decode = decode_cases() if Level.DECODE in levels else ()
    return (*decode, *(apply_case_specs() if Level.APPLY in levels else ()))


def build_case(one: CaseSpec, on_status: Callable[[str], None]) -> AnyCase:
    """Build a case.

    :param on_status: called before something that takes long.
    :raises ProducerError: if Spark does not start, which the apply level needs once per topic.
    """
    if isinstance(one, DecodeCase):
        return build_decode_case(one)
    from ticdc_producer.conformance.apply_case import build_apply_case

    return build_apply_case(one, on_status)
