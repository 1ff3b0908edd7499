"""Writes the corpus: all cases as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from ticdc_producer.conformance.case_folder import write_case
from ticdc_producer.conformance.catalog import CaseSpec, build_case
from ticdc_producer.targets.golden import write as sink


def write_corpus(folder: Path, cases: Sequence[CaseSpec], on_status: Callable[[str], None]) -> None:
    """Write a folder per case, named by its id, and a manifest with the sha256 of every file.

    :param on_status: called before a case that takes long.
    :raises FolderError: if the folder exists already.
    :raises ProducerError: if Spark does not start, which the apply level needs once per topic.
    """
    with sink.golden_folder(folder) as unfinished:
        for one in cases:
            case_folder = unfinished / one.id
            case_folder.mkdir()
            write_case(case_folder, build_case(one, on_status))
        tool = f"ticdc-producer {version('ticdc-producer')}"
        sink.write_manifest(unfinished, {"tool": tool, "cases": [one.id for one in cases]})
