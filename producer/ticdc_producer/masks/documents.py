"""Masks JSON documents: texts and numbers become others, and names of members stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ticdc_producer.model.values.json_document import JsonValue, parse_json, print_json


def masked_documents(
    values: pa.BinaryArray,
    mask_texts: Callable[[pa.BinaryArray], list[str]],
    mask_integers: Callable[[pa.StringArray], list[str]],
    mask_double: Callable[[bytes], bytes],
) -> pa.StringArray:
    """Mask documents. Each different text and integer of all documents is masked once, with the others.

    :param mask_texts: masks different texts, in UTF-8.
    :param mask_integers: masks different integers, as texts.
    :param mask_double: masks a number, without an exponent.
    :raises ValueError: for a document that is none.
    """
    documents = [parse_json(value.decode("utf-8", "replace")) for value in values.to_pylist()]
    scalars = {scalar for document in documents for scalar in _scalars(document)}
    texts = sorted(scalar for scalar in scalars if isinstance(scalar, str))
    integers = sorted(scalar for scalar in scalars if isinstance(scalar, int))
    masks = _Masks(
        dict(zip(texts, mask_texts(pa.array(map(_utf8, texts), pa.binary())) if texts else (), strict=True)),
        dict(zip(integers, _masked_integers(integers, mask_integers), strict=True)),
        mask_double,
    )
    return pa.array([print_json(masks(document)) for document in documents], pa.string())


def _masked_integers(integers: list[int], mask_integers: Callable[[pa.StringArray], list[str]]) -> list[int]:
    texts = pa.array(map(str, integers), pa.string())
    return [*map(int, mask_integers(texts))] if integers else []


def _utf8(text: str) -> bytes:
    """Return a string of JSON in UTF-8; half of a surrogate pair is U+FFFD, as TiDB stores it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _scalars(document: JsonValue) -> Iterator[str | int]:
    """Yield the texts and integers of a document."""
    match document:
        case bool():
            return
        case str() | int():
            yield document
        case list():
            for element in document:
                yield from _scalars(element)
        case dict():
            for element in document.values():
                yield from _scalars(element)


@dataclass(frozen=True)
class _Masks:
    """The masks of the texts and numbers of documents."""

    texts: dict[str, str]
    integers: dict[int, int]
    double: Callable[[bytes], bytes]

    def __call__(self, document: JsonValue) -> JsonValue:
        match document:
            case list():
                return [self(element) for element in document]
            case dict():
                return {name: self(element) for name, element in document.items()}
            case str():
                return self.texts[document]
            case bool() | None:
                return document
            case int():
                return self.integers[document]
        text = np.format_float_positional(document, trim="0").encode()
        return float(self.double(text))
