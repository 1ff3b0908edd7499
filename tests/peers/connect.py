"""What Kafka Connect's JsonConverter does not give back as it was sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.peers.flink import single

ABSENT = object()


@dataclass(frozen=True)
class Difference:
    """One place of a message, as sent and as given back."""

    path: str
    sent: Any
    back: Any


@dataclass(frozen=True)
class Change:
    """A kind of difference.

    :param path: where it occurs, as a regular expression.
    """

    what: str
    why: str
    path: str
    applies: Callable[[Any, Any], bool]

    def covers(self, difference: Difference) -> bool:
        found = re.fullmatch(self.path, difference.path)
        return found is not None and self.applies(difference.sent, difference.back)


def differences(sent: Any, back: Any, path: str = "") -> Iterator[Difference]:
    """All places that differ; numbers that are equal are, however they are written."""
    if isinstance(sent, dict) and isinstance(back, dict):
        for name in dict.fromkeys([*sent, *back]):
            yield from differences(sent.get(name, ABSENT), back.get(name, ABSENT), f"{path}/{name}")
    elif isinstance(sent, list) and isinstance(back, list) and len(sent) == len(back):
        for one, other in zip(sent, back, strict=True):
            yield from differences(one, other, f"{path}/*")
    elif sent != back:
        yield Difference(path, sent, back)


def kind_of(difference: Difference) -> Change | None:
    """None for a difference that is not explained here."""
    return next((change for change in CHANGES if change.covers(difference)), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_single(sent: Any, back: Any) -> bool:
    return _is_number(sent) and isinstance(back, float) and single(sent) == single(back)


_IMAGE = r"/payload/(before|after)/.*|/payload/[^/]*"
OTHER_VALUES = (
    Change(
        "NULL of a YEAR with a DEFAULT comes as 0",
        "TiCDC sends the DEFAULT as text where the schema says int32, and Connect reads no digits there",
        _IMAGE,
        lambda sent, back: isinstance(sent, str) and back == 0,
    ),
    Change(
        "a zero date of a column with a DEFAULT comes as the DEFAULT",
        "it is sent as null, which `replace.null.with.default` (true by default) takes for it",
        _IMAGE,
        lambda sent, back: sent is None and back is not None,
    ),
)
CHANGES = (
    Change(
        "`source.commit_ts` and `source.cluster_id` are left out",
        "the classic TiCDC does not describe them; the newer one does",
        r"/payload/source/(commit_ts|cluster_id)",
        lambda sent, back: back is ABSENT,
    ),
    Change(
        "`tidb_type` is left out (`enable-tidb-extension`)",
        "a member of the schema that is TiDB's own",
        r"/schema/.*/tidb_type",
        lambda sent, back: back is ABSENT,
    ),
    Change(
        "optional members that are not sent come as null",
        "virtual columns, `source.sequence`, and `before` under `output-old-value=false`",
        r"/payload/.*",
        lambda sent, back: sent is ABSENT and back is None,
    ),
    Change(
        "FLOAT is written with other digits",
        "the same number of 32 bits",
        f"{_IMAGE}|/schema/.*/default",
        _same_single,
    ),
    *OTHER_VALUES,
    Change(
        "a DEFAULT of 2⁶³ or more, or near it, comes as another number",
        "TiCDC writes it as the nearest double, which is no int64",
        r"/schema/.*/default",
        lambda sent, back: _is_number(sent) and not -(1 << 63) < sent < 1 << 63,
    ),
)
