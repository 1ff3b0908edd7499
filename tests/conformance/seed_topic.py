"""The topic of the scenario ``seed_t1``: the smallest one of the apply level, made in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ticdc_producer.conformance.case_spec import ApplyCaseSpec, apply_case_specs

CASE = "required.open-protocol.apply.seed_t1"
TABLE = "test.t1"
ROWS = [{"id": "3", "val": "dd"}, {"id": "4", "val": "ee"}]


def apply_spec() -> ApplyCaseSpec:
    (spec,) = [spec for spec in apply_case_specs() if spec.id == CASE]
    return spec


@contextmanager
def own_cache(folder: Path) -> Iterator[None]:
    """Topics are written into this folder, and read from it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TICDC_PRODUCER_CACHE", str(folder))
        yield
