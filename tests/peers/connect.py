"""Differences between what was sent and what Kafka Connect's JsonConverter returns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.peers.flink import single

ABSENT = object()


@dataclass(frozen=True)
class Difference:
    """One path in a message, with the value sent and the value returned."""

    path: str
    sent: Any
    returned: Any


@dataclass(frozen=True)
class Change:
    """A known kind of difference.

    :param path: regular expression of the paths where it occurs.
    """

    what: str
    why: str
    path: str
    applies: Callable[[Any, Any], bool]

    def covers(self, difference: Difference) -> bool:
        match = re.fullmatch(self.path, difference.path)
        return match is not None and self.applies(difference.sent, difference.returned)


def differences(sent: Any, returned: Any, path: str = "") -> Iterator[Difference]:
    """All paths with different values; numbers are equal in any notation."""
    if isinstance(sent, dict) and isinstance(returned, dict):
        for name in dict.fromkeys([*sent, *returned]):
            yield from differences(sent.get(name, ABSENT), returned.get(name, ABSENT), f"{path}/{name}")
    elif isinstance(sent, list) and isinstance(returned, list) and len(sent) == len(returned):
        for value, other in zip(sent, returned, strict=True):
            yield from differences(value, other, f"{path}/*")
    elif sent != returned:
        yield Difference(path, sent, returned)


def kind_of(difference: Difference) -> Change | None:
    """The known kind of a difference; None if there is none."""
    return next((change for change in CHANGES if change.covers(difference)), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_single(sent: Any, returned: Any) -> bool:
    return _is_number(sent) and isinstance(returned, float) and single(sent) == single(returned)


_IMAGE = r"/payload/(before|after)/.*|/payload/[^/]*"
OTHER_VALUES = (
    Change(
        "NULL in a YEAR column with a DEFAULT arrives as 0",
        "TiCDC sends the DEFAULT as text, the schema says int32, and Connect does not parse the text",
        _IMAGE,
        lambda sent, returned: isinstance(sent, str) and returned == 0,
    ),
    Change(
        "a zero date in a column with a DEFAULT arrives as the DEFAULT",
        "it is sent as null, which `replace.null.with.default` (true by default) replaces by the DEFAULT",
        _IMAGE,
        lambda sent, returned: sent is None and returned is not None,
    ),
)
CHANGES = (
    Change(
        "`source.commit_ts` and `source.cluster_id` are missing",
        "the schema of classic TiCDC does not contain them; that of the new architecture does",
        r"/payload/source/(commit_ts|cluster_id)",
        lambda sent, returned: returned is ABSENT,
    ),
    Change(
        "`tidb_type` is missing (`enable-tidb-extension`)",
        "TiDB's extension of the schema",
        r"/schema/.*/tidb_type",
        lambda sent, returned: returned is ABSENT,
    ),
    Change(
        "optional members that are not sent arrive as null",
        "virtual columns, `source.sequence`, and `before` under `output-old-value=false`",
        r"/payload/.*",
        lambda sent, returned: sent is ABSENT and returned is None,
    ),
    Change(
        "FLOAT is written with other digits",
        "they give the same 32-bit number",
        f"{_IMAGE}|/schema/.*/default",
        _same_single,
    ),
    *OTHER_VALUES,
    Change(
        "a DEFAULT of 2⁶³ or more, or near it, arrives as another number",
        "TiCDC writes it as the nearest double, which does not fit into an int64",
        r"/schema/.*/default",
        lambda sent, returned: _is_number(sent) and not -(1 << 63) < sent < 1 << 63,
    ),
)
