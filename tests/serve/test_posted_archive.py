"""Archives of golden folders that clients post: unpacked within limits, verified, and never outside."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.serve.asgi_client import Answer
from tests.serve.service_app import App, application
from ticdc_producer import api
from ticdc_producer.serve.settings import Limits, ServeSettings

SQL = """CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
DELETE FROM t WHERE id = 1;
"""
FILE = [("Content-Type", "application/octet-stream")]
LARGEST = 100_000


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archives")
    (folder / "scenario.sql").write_text(SQL, "utf-8")
    api.run(str(folder / "scenario.sql"), sink_uri="kafka:///t?protocol=avro", out=folder / "golden")
    return folder / "golden"


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    with application(ServeSettings(limits=Limits(archive_bytes=LARGEST))) as started:
        yield started


def posted(app: App, content: bytes, name: str) -> Answer:
    return app("POST", f"/v1/posted-streams?name={name}", content=content, headers=FILE)


def zipped(*entries: tuple[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return file.getvalue()


def tarred(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for entry, content in entries:
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def zipped_link() -> bytes:
    link = zipfile.ZipInfo("messages.jsonl")
    link.external_attr = 0o120777 << 16
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    return file.getvalue()


def patched_zip(offset: int, value: int) -> bytes:
    """Return an archive of one file with another byte in the entry of its directory."""
    content = bytearray(zipped(("manifest.json", b"{}")))
    content[content.index(b"PK\x01\x02") + offset] = value
    return bytes(content)


def cut_sparse_file() -> bytes:
    """Return a sparse file whose header says that another one follows, which is missing."""
    header = bytearray(entry("a", tarfile.GNUTYPE_SPARSE).tobuf(tarfile.GNU_FORMAT)[:512])
    header[482] = 1
    header[148:156] = b" " * 8  # of which the checksum is
    header[148:156] = b"%06o\0 " % sum(header)
    return gzip.compress(bytes(header))


@pytest.mark.parametrize(
    ("kind", "base"), [("zip", "."), ("zip", "golden"), ("gztar", "."), ("gztar", "golden")]
)
def test_an_archive_is_verified_as_its_folder(
    app: App, golden: Path, tmp_path: Path, kind: str, base: str
) -> None:
    """Both as the page saves it, and with the folder itself as zip -r and tar make it."""
    path = Path(
        shutil.make_archive(str(tmp_path / "taken"), kind, golden, ".")
        if base == "."
        else shutil.make_archive(str(tmp_path / "taken"), kind, golden.parent, base)
    )
    answer = posted(app, path.read_bytes(), path.name)
    assert answer.status == 201, answer.body
    stream = answer.json
    assert (stream["name"], stream["protocol"]) == ("taken", "avro")
    verdict = app("GET", f"/v1/streams/{stream['id']}/verdict").json["verdict"]
    assert verdict["ok"], verdict
    assert {"events", "rows"} <= {line["name"] for line in verdict["lines"]}
    tables = app("GET", f"/v1/streams/{stream['id']}/tables").json["tables"]
    assert tables["test.t"]["rows"] == [{"id": "2", "v": "20"}]
    assert app("DELETE", f"/v1/streams/{stream['id']}").status == 204


def changed(golden: Path, changefeed: dict[str, str], lines: int | None = None) -> bytes:
    """Return an archive of the folder with some lines of its messages, and another changefeed."""
    files = {str(path.relative_to(golden)): path.read_bytes() for path in golden.rglob("*") if path.is_file()}
    manifest = json.loads(files["manifest.json"])
    del manifest["files"]["messages.jsonl"]
    manifest["changefeed"] |= changefeed
    messages = files["messages.jsonl"].splitlines(keepends=True)[:lines]
    return zipped(*{
        **files, "messages.jsonl": b"".join(messages), "manifest.json": json.dumps(manifest).encode(),
    }.items())  # fmt: skip


def test_a_wrong_stream_in_an_archive_has_differences(app: App, golden: Path) -> None:
    stream = posted(app, changed(golden, {}, -1), "short.zip").json
    verdict = app("GET", f"/v1/streams/{stream['id']}/verdict").json["verdict"]
    assert not verdict["ok"]
    assert "events" in [part["name"] for part in verdict["differences"]]


def test_an_archive_names_no_other_machine(app: App, golden: Path) -> None:
    answer = posted(app, changed(golden, {"schema-registry": "http://10.0.0.1/"}), "remote.zip")
    assert (answer.status, answer.json["error"]["where"]) == (403, "remote/manifest.json")


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "above the folder": (lambda: zipped(("../out", b"x")), "a path outside"),
    "above the folder, in tar": (lambda: tarred((entry("a/../../out"), b"x")), "a path outside"),
    "an absolute path": (lambda: tarred((entry("/tmp/out"), b"x")), "a path outside"),
    "a path of Windows": (lambda: zipped(("a\\..\\out", b"x")), "a path outside"),
    "a deep path": (lambda: zipped(("a/b/c/d/e", b"x")), "a path outside"),
    "a link": (lambda: tarred((entry("manifest.json", tarfile.SYMTYPE, "/etc/passwd"), b"")), "not a file"),
    "a link in zip": (zipped_link, "not a file"),
    "a hard link": (lambda: tarred((entry("a", tarfile.LNKTYPE, "../../x"), b"")), "not a file"),
    "a device": (lambda: tarred((entry("a", tarfile.CHRTYPE), b"")), "not a file"),
    "a sparse file": (lambda: tarred((entry("a", tarfile.GNUTYPE_SPARSE), b"")), "not a file"),
    "another compression": (lambda: zipped(("a", b"x"), compression=zipfile.ZIP_LZMA), "another way"),
    "a bomb": (lambda: zipped(("a", bytes(LARGEST + 1))), "too large"),
    "bombs": (lambda: zipped(*((str(n), bytes(LARGEST // 3)) for n in range(4))), "too large"),
    "a bomb in tar": (lambda: tarred((entry("a"), bytes(LARGEST + 1))), "too large"),
    "a bomb of a name": (lambda: tarred((entry("a" * (LARGEST + 5_000_000)), b"")), "cannot be unpacked"),
    "many files": (lambda: zipped(*((str(n), b"") for n in range(1001))), "more than 1000"),
    "many files in tar": (lambda: tarred(*((entry(str(n)), b"") for n in range(1001))), "more than 1000"),
    "a long directory": (
        lambda: zipped(*((f"{n}{'x' * 200}", b"") for n in range(5000))), "cannot be unpacked",
    ),
    "a name twice": (lambda: tarred((entry("a"), b"x"), (entry("a"), b"y")), "cannot be unpacked"),
    "a file as a folder": (lambda: zipped(("a", b"x"), ("a/b", b"y")), "cannot be unpacked"),
    "a long name": (lambda: zipped(("\U0001f600" * 250, b"x")), "cannot be unpacked"),
    "a large folder": (lambda: zipped(("messages.parquet", b"x")), "small folders"),
    "no golden folder": (lambda: zipped(("readme.txt", b"x")), "no golden folder"),
    "no JSON": (lambda: zipped(("manifest.json", b"x")), "not JSON"),
    "half of it": (lambda: zipped(("a", b"x" * 999))[:60], "cannot be unpacked"),
    "half of a tar": (lambda: tarred((entry("a"), b"x" * 999))[:60], "cannot be unpacked"),
    "headers in headers": (
        lambda: tarred(*((entry("a", tarfile.GNUTYPE_LONGNAME), b"") for _ in range(2000))),
        "cannot be unpacked",
    ),
    "half of a sparse file": (cut_sparse_file, "cannot be unpacked"),
    "a later version of zip": (lambda: patched_zip(6, 200), "cannot be unpacked"),
    "a patch in zip": (lambda: patched_zip(8, 1 << 5), "cannot be unpacked"),
    "another file in gzip": (lambda: b"\x1f\x8b" + b"x" * 99, "cannot be unpacked"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "what"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_archive_is_refused_and_leaves_nothing(
    app: App, make: Callable[[], bytes], what: str
) -> None:
    folder = Path(app.service.streams._folder)
    before = {*folder.iterdir()}
    answer = posted(app, make(), "evil.zip")
    assert answer.status in (403, 422), answer.body
    assert what in answer.what
    assert str(folder) not in answer.body.decode()
    assert {*folder.iterdir()} == before, "neither a copy nor the file is left"
    assert not [*folder.rglob("out")]
