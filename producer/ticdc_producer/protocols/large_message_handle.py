"""Options for messages that are too large, common to several protocols."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from ticdc_producer.errors import ChangefeedError, nearest

DEFAULT_MAX_MESSAGE_BYTES = 10 << 20

LargeMessageHandle: TypeAlias = Literal["none", "handle-key-only", "claim-check"]


def check_large_message_handle(chosen: str) -> None:
    """Check the value of ``large-message-handle-option``.

    :raises ChangefeedError: for an unknown value; the hint names the nearest known one.
    """
    if chosen not in get_args(LargeMessageHandle):
        raise ChangefeedError(
            f"unknown large-message-handle-option {chosen!r}",
            parameter="large-message-handle-option",
            hint=nearest(chosen, get_args(LargeMessageHandle)),
        )
