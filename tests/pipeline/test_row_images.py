"""Operations on columns of row images, against the same on Python lists."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pipeline.small_changes import Image, images, sliced
from ticdc_producer.model.shapes import IMAGE
from ticdc_producer.pipeline.row_images import (
    replaced_values,
    same_images,
    same_values,
    selected_from,
    starts,
    widths,
    without,
)

VALUES = st.none() | st.sampled_from([b"", b"a", b"ab"])
IMAGES = st.none() | st.lists(VALUES, max_size=3)
WIDE = st.none() | st.lists(VALUES, min_size=3, max_size=3)
HIDDEN = pa.ListArray.from_arrays(
    pa.array([0, 1, 2], pa.int32()), pa.array([b"x", b"y"], pa.binary()), mask=pa.array([True, False])
)
"""NULL and ``[b"y"]``, with a value behind the NULL."""


@pytest.mark.parametrize("left", [None, [], [None], [b""], [b"a"], [b"a", None], [b"a", b"b"]], ids=repr)
def test_an_image_equals_itself_alone(left: Image) -> None:
    others: list[Image] = [None, [], [None], [b""], [b"a"], [b"a", None], [b"a", b"b"], [b"b", b"a"]]
    same = same_images(images([left] * len(others)), images(others))
    assert same.tolist() == [other == left for other in others]


@given(st.lists(st.tuples(IMAGES, IMAGES)))
def test_slices_of_images_are_compared_as_lists(pairs: list[tuple[Image, Image]]) -> None:
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    wanted = [image == other for image, other in pairs]
    assert same_images(sliced(left), images(right)).tolist() == wanted
    assert same_images(images(left), sliced(right)).tolist() == wanted


def test_values_behind_a_null_are_no_part_of_the_image() -> None:
    assert widths(HIDDEN).tolist() == [0, 1]
    assert same_images(HIDDEN, images([None, [b"y"]])).tolist() == [True, True]
    assert selected_from(HIDDEN, {}, np.zeros(2, np.int64)).to_pylist() == [None, [b"y"]]
    assert selected_from(HIDDEN, {0: [0, 0]}, np.zeros(2, np.int64)).to_pylist() == [None, [b"y", b"y"]]


def test_a_null_equals_only_a_null() -> None:
    left, right = (
        pa.array(values, pa.binary()) for values in ([None, None, b"", b"a"], [None, b"", None, b"a"])
    )
    assert same_values(left, right).tolist() == [True, False, False, True]


@given(
    st.lists(st.tuples(WIDE, st.integers(0, 3))),
    st.dictionaries(st.integers(0, 2), st.lists(st.integers(0, 2), unique=True)),
)
def test_columns_are_selected_by_table_version(
    rows: list[tuple[Image, int]], columns_of: dict[int, list[int]]
) -> None:
    values, versions = [image for image, _ in rows], [version for _, version in rows]
    selected = selected_from(sliced(values), columns_of, np.array(versions, np.int64))
    assert selected.type == IMAGE
    assert selected.to_pylist() == [
        None if image is None else [image[index] for index in columns_of.get(version, (0, 1, 2))]
        for image, version in rows
    ]


@given(st.lists(IMAGES), st.data())
def test_values_are_replaced_in_their_images_alone(values: list[Image], data: st.DataObject) -> None:
    column = sliced(values)
    cells = [(row, index) for row, image in enumerate(values) for index in range(len(image or ()))]
    replaced = data.draw(st.lists(st.sampled_from(cells), unique=True)) if cells else []
    new = data.draw(st.lists(VALUES, min_size=len(replaced), max_size=len(replaced)))
    wanted = [None if image is None else list(image) for image in values]
    for (row, index), value in zip(replaced, new, strict=True):
        image = wanted[row]
        assert image is not None
        image[index] = value
    positions = np.array([starts(column)[row] + index for row, index in replaced], np.int64)
    assert replaced_values(column, positions, pa.array(new, pa.binary())).to_pylist() == wanted


def test_images_of_some_rows_are_removed() -> None:
    left = without(sliced([[b"a"], [b"b"], None]), np.array([True, False, False]))
    assert left.to_pylist() == [None, [b"b"], None]
