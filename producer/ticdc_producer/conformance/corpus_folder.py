"""All cases as files: the corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from ticdc_producer.conformance.case_folder import write_case
from ticdc_producer.conformance.catalog import Asked, built
from ticdc_producer.targets.golden import write as sink


def write_corpus(place: Path, cases: Sequence[Asked], say: Callable[[str], None]) -> None:
    """Write a folder per case, named by its id, and a manifest with the sha256 of every file.

    :param say: is told when making a case takes long.
    :raises FolderError: if something stands at that place already.
    :raises ProducerError: if Spark does not start, which the apply level needs once.
    """
    with sink.golden_folder(place) as folder:
        for one in cases:
            inner = folder / one.id
            inner.mkdir()
            write_case(inner, built(one, say))
        tool = f"ticdc-producer {version('ticdc-producer')}"
        sink.write_manifest(folder, {"tool": tool, "cases": [one.id for one in cases]})
