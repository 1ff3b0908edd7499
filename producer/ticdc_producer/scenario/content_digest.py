"""The digest of a scenario with the files whose rows its steps read."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import file_digest, sha256
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.data_steps import location_of
from ticdc_producer.scenario.scenario_file import ChangesStep, DataStep, RecordingStep, ScenarioFile


def content_sha256(scenario: ScenarioFile) -> str:
    """Return the SHA-256 of a scenario and of the files whose rows it reads.

    Each file is read once, in blocks. Data on another machine counts by its URI, which is in the text.

    :return: that of the scenario alone if it reads no files of this machine.
    :raises ScenarioError: for a file that cannot be read.
    """
    digest = None
    try:
        for name, path in _files(scenario):
            with path.open("rb") as content:
                content_digest = file_digest(content, "sha256").hexdigest()
            digest = digest or sha256(scenario.sha256.encode())
            digest.update(f"\0{name}\0{content_digest}".encode("utf-8", "surrogateescape"))
    except OSError as error:
        what = f"cannot read {error.filename or 'the rows of a step'}: {error.strerror}"
        raise ScenarioError(what, file=scenario.file) from None
    return scenario.sha256 if digest is None else digest.hexdigest()


def content_paths(scenario: ScenarioFile) -> Iterator[str]:
    """Yield the files of this machine whose rows a scenario reads, and the folders that contain them."""
    for location in _locations(scenario):
        path = _path(location)
        if path is not None:
            yield str(path)
    for _, path in _files(scenario):
        yield str(path)


def _files(scenario: ScenarioFile) -> Iterator[tuple[str, Path]]:
    """Yield the name and the path of each file, in an order that does not depend on the machine."""
    for location in dict.fromkeys(_locations(scenario)):
        path = _path(location)
        if path is None:
            continue
        pattern = path.relative_to(path.anchor)
        for match in [path] if path.exists() else sorted(Path(path.anchor).glob(str(pattern))):
            yield from _files_of(match)


def _locations(scenario: ScenarioFile) -> Iterator[str]:
    """Yield the paths and URIs of the rows that the text of a scenario does not determine."""
    for step in scenario.steps:
        if isinstance(step, ChangesStep) and step.frame.unnamed_location is not None:
            yield step.frame.unnamed_location
        elif isinstance(step, DataStep) and step.spec.path is not None:
            yield location_of(step.spec.path, scenario.file)
        elif isinstance(step, RecordingStep):
            yield step.folder
    if scenario.recorded_faults is not None and not any(
        isinstance(step, RecordingStep) for step in scenario.steps
    ):
        yield scenario.recorded_faults


def _path(location: str) -> Path | None:
    """Return the path of a location on this machine."""
    if "://" not in location:
        return Path(location)
    url = urlsplit(location)
    return Path(unquote(url.path)) if url.scheme == "file" else None


def _files_of(path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the names and paths of a file, or of the files in a folder that Spark and Arrow read."""
    if path.is_file():
        yield path.name, path
    names = sorted((file.relative_to(path) for file in path.rglob("*") if file.is_file()), key=str)
    for name in names:
        if not any(_is_hidden(part) for part in name.parts):
            yield str(path.name / name), path / name


def _is_hidden(name: str) -> bool:
    """Return whether readers leave out a file or folder; ``_a=1`` is a value of a column ``_a``."""
    return name.startswith(("_", ".")) and "=" not in name
