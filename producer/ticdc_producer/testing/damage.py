"""Hypothesis strategies that damage the bytes of a message."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias, get_args

from hypothesis import strategies as st
from msgspec.structs import replace

from ticdc_producer.model.event import Message

Damage: TypeAlias = Literal["cut", "flip", "splice"]
DAMAGES: tuple[Damage, ...] = get_args(Damage)


@st.composite
def damaged(draw: st.DrawFn, data: bytes, damages: Collection[Damage] = DAMAGES) -> bytes:
    """The bytes truncated, with some bits flipped, or with some bytes replaced, removed or inserted."""
    if not data:
        return draw(st.binary(max_size=8))
    index = st.integers(0, len(data) - 1)
    match draw(st.sampled_from([one for one in DAMAGES if one in damages])):
        case "cut":
            return data[: draw(index)]
        case "flip":
            flipped = bytearray(data)
            for byte, bit in draw(st.lists(st.tuples(index, st.integers(0, 7)), min_size=1, max_size=4)):
                flipped[byte] ^= 1 << bit
            return bytes(flipped)
    start, end = sorted((draw(index), draw(index)))
    return data[:start] + draw(st.binary(max_size=12)) + data[end:]


@st.composite
def damaged_message(
    draw: st.DrawFn, messages: st.SearchStrategy[list[Message]], damages: Collection[Damage]
) -> Message:
    """One of the messages with a damaged key or value."""
    candidates = draw(messages.map(lambda drawn: [one for one in drawn if one.size]).filter(bool))
    message = draw(st.sampled_from(candidates))
    part = draw(st.sampled_from([name for name in ("value", "key") if getattr(message, name)]))
    original: bytes = getattr(message, part)
    return replace(message, **{part: draw(damaged(original, damages).filter(lambda data: data != original))})
