"""The conformance cases of single messages, as JSON."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from ticdc_producer.conformance.case import build_decode_case
from ticdc_producer.conformance.decode_spec import DecodeCase, decode_cases
from ticdc_producer.errors import RefusedRequest


def listed_cases(protocol: str | None) -> list[dict[str, str]]:
    """Id, protocol and description of each case.

    :param protocol: only cases of this one.
    """
    return [
        {"id": one.id, "protocol": one.protocol, "description": one.description}
        for one in _cases().values()
        if protocol in (None, one.protocol)
    ]


def case_content(name: str) -> dict[str, Any]:
    """The request and the expected events of a case.

    :param name: its id.
    :raises RefusedRequest: if there is none.
    """
    spec = _cases().get(name)
    if spec is None:
        raise RefusedRequest("there is no such case", status=404, where=name[:200])
    built = build_decode_case(spec)
    return {
        "id": built.id,
        "description": built.description,
        "request": msgspec.to_builtins(built.request),
        "expected": msgspec.to_builtins(built.expected),
    }


@cache
def _cases() -> dict[str, DecodeCase]:
    return {one.id: one for one in decode_cases()}
