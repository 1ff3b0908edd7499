"""Draws are the same on every machine, and distributed as configured."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ticdc_producer.scenario.generate.arrays import exponential, logarithm
from ticdc_producer.scenario.generate.cells import no_expressions
from ticdc_producer.scenario.generate.draw import draw, happens, letters, normal, uniform, zipf
from ticdc_producer.simulate.change_log import change_batch
from ticdc_producer.simulate.generated import GeneratedPartitions
from ticdc_producer.simulate.prepare import prepare

NUMBERS = np.arange(20_000)


def test_powers_have_all_digits() -> None:
    numbers = np.concatenate([np.linspace(1e-9, 3, 999), np.logspace(-300, 300, 999), [1.0, 2.0, 0.5]])
    for number, value in zip(numbers.tolist(), logarithm(numbers).tolist(), strict=True):
        assert value == pytest.approx(math.log(number), rel=4e-16, abs=4e-16)
    exponents = np.linspace(-690, 690, 999)
    for number, value in zip(exponents.tolist(), exponential(exponents).tolist(), strict=True):
        assert value == pytest.approx(math.exp(number), rel=1e-15)


def test_zipf_prefers_small_numbers_by_its_exponent() -> None:
    for exponent in (0.5, 1.0, 2.0):
        counts = np.bincount(zipf(draw(1, NUMBERS), 1000, exponent), minlength=1000)
        # The continuous distribution of the density x ** -exponent, cut to integers.
        area = math.log if exponent == 1 else lambda x, e=exponent: (x ** (1 - e) - 1) / (1 - e)
        for number in (0, 1, 2, 5):
            wanted = (area(number + 2) - area(number + 1)) / area(1001) * len(NUMBERS)
            assert counts[number] == pytest.approx(wanted, abs=5 * math.sqrt(wanted))


def test_zipf_stays_within_counts_that_differ() -> None:
    counts = NUMBERS + 1
    for exponent in (0.99, 1.0, 10.0):
        ranks = zipf(draw(2, NUMBERS), counts, exponent)
        assert ((ranks >= 0) & (ranks < counts)).all()


def test_normal_numbers_have_the_deviation_of_a_twelfth() -> None:
    draws = normal(3, NUMBERS, 12_000)
    assert float(draws.mean()) == pytest.approx(6000, abs=30)
    assert float(draws.std()) == pytest.approx(1000, rel=0.03)


def test_uniform_numbers_and_chances() -> None:
    assert np.bincount(uniform(draw(4, NUMBERS), 5).astype(np.int64)).min() > 3700
    assert happens(0.25, draw(5, NUMBERS)).mean() == pytest.approx(0.25, abs=0.02)
    assert not happens(0, draw(6, NUMBERS)).any()
    assert happens(1, draw(6, NUMBERS)).all()


def test_the_text_of_a_number_does_not_depend_on_others() -> None:
    lengths = NUMBERS % 41
    alone = [letters(7, NUMBERS[row : row + 1], 40, lengths[row : row + 1])[0].as_py() for row in range(99)]
    assert letters(7, NUMBERS, 40, lengths).to_pylist()[:99] == alone
    assert len(set(letters(8, NUMBERS, 12).to_pylist())) == len(NUMBERS)


DIGESTED = {
    "orders": ["steps[1].generate.transactions=100"],
    "all-types": ["steps[1].generate.transactions=100"],
    "ddl-mix": [f"steps[{step}].generate.transactions=40" for step in (1, 3, 5, 7)],
}


def digest() -> str:
    """SHA-256 of the events of some scenarios, with zipf, normal, and FLOAT and DOUBLE columns."""
    total = hashlib.sha256()
    for name, overrides in DIGESTED.items():
        job = prepare(name, overrides=overrides)
        drawn = GeneratedPartitions(job.stream, job.history.generated, change_batch(job.history.changes))
        for index in range(len(job.stream.topic_partitions)):
            for batch in drawn.events(index, no_expressions):
                total.update(repr(batch.select(["commit_ts", "before", "after"]).to_pylist()).encode())
    return total.hexdigest()


def test_every_instruction_set_gives_the_same_bytes() -> None:
    """NumPy uses other instructions for each kind of processor; here it uses none of them."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    used = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    code = "from tests.scenario.generate.test_draw import digest; print(digest())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(used)},
    )
    assert done.stdout.strip() == digest()
