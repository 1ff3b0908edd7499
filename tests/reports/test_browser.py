"""The page in a real browser of the width of a phone, in light and dark mode."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from tests.reports.verdicts import BANK, compared, event, finding, timeline, verdict
from ticdc_producer.reports.html import write_html
from ticdc_producer.verifier.table_state import StateComparison

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
EDGE = 8
"""Pixels at the right that the page leaves free."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="not run: no chromium on the PATH"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with long words, which can make it wider than the screen."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    long_event = event(7, "id=" + "0123456789" * 30, table="t" * 64)
    failed = verdict(
        finding("INV-RESOLVED-BROADCAST", "error", 12_345, long_event),
        comparison=compared(1, ("- " + "x" * 500,)),
        state=StateComparison(tables=1, rows=1, missing=0, unexpected=0, not_compared={"y" * 300: "no key"}),
    )
    write_html(path, BANK, failed, timeline(partitions=3, topic="topic" * 20))
    return path


def shot(page: Path, *flags: str, height: int = 3000) -> np.ndarray:
    """Pixels of the page, 380 wide."""
    assert BROWSER is not None
    picture = page.parent / "shot.png"
    command = [
        BROWSER, "--headless", "--no-sandbox", "--hide-scrollbars",
        f"--user-data-dir={page.parent / 'profile'}", f"--window-size=380,{height}",
        f"--screenshot={picture}", *flags, page.as_uri(),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return np.asarray(imread(picture))[..., :3]


def test_the_page_fits_a_phone(page: Path) -> None:
    pixels = shot(page)
    assert pixels.shape[1] == 380
    assert np.allclose(pixels[:, -EDGE:], pixels[0, 0]), "something reaches the edge"
    assert not np.allclose(pixels, pixels[0, 0])


def test_the_page_is_dark_in_dark_mode(page: Path) -> None:
    light, dark = shot(page), shot(page, "--force-dark-mode")
    assert light.mean() > 0.8
    assert dark.mean() < 0.3
    assert dark.max() > 0.8, "the text is legible"
