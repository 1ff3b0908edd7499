"""A new golden folder: it is written as ``DIR.partial`` and renamed at the end.

An incomplete folder is therefore never mistaken for a complete one.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ticdc_producer.errors import FolderError
from ticdc_producer.targets.golden.parquet import disk_errors

MANIFEST = "manifest.json"
_WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EBADF)
"""The errors of file systems that lock no folders, such as NFS."""


@contextmanager
def new_folder(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Yield a temporary folder, which is renamed on success and removed on failure.

    :param replace: remove the golden folder that has this path, when the new one is complete.
    :raises FolderError: if the path exists and is not an empty folder, or must not be replaced, or if another
        process writes it.
    :raises StorageError: if the disk is full or read-only; then nothing is left of the new folder.
    """
    path = path.absolute()
    partial = path.with_name(path.name + ".partial")
    with disk_errors(path), ExitStack() as lock:
        _check_new(path, replace)
        try:
            partial.mkdir(parents=True, exist_ok=True)
            if sys.platform != "win32":
                lock.enter_context(_locked(partial, path))
        except (FileExistsError, NotADirectoryError) as error:
            raise FolderError(f"cannot be created: {error.strerror}", path=str(partial)) from None
        try:
            _check_new(path, replace)  # another process may have written the folder since
        except FolderError:
            with suppress(OSError):  # what a killed run left there stays
                partial.rmdir()
            raise
        try:
            _clear(partial)
            yield partial
            _install(partial, path)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise


@contextmanager
def _locked(partial: Path, path: Path) -> Iterator[None]:
    """Hold an incomplete folder for this process, until the block or the process ends.

    :param path: the path that the folder gets.
    :raises FolderError: if another process holds it.
    """
    import fcntl  # Windows has none

    hint = "wait for its end, or name another folder"
    refusal = FolderError("another process writes this folder", path=str(path), hint=hint)
    try:
        descriptor = os.open(partial, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:  # it was renamed
        raise refusal from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_held = os.path.samestat(os.fstat(descriptor), partial.stat())
        except (BlockingIOError, FileNotFoundError):  # it is locked, or was renamed
            is_held = False
        except OSError as error:
            if error.errno not in _WITHOUT_LOCKS:
                raise
            is_held = True
        if not is_held:
            raise refusal
        yield
    finally:
        os.close(descriptor)


def _check_new(path: Path, replace: bool) -> None:
    if replace:
        check_replaceable(path)
    elif not is_free(path):
        hint = "name a new folder, or remove this one"
        raise FolderError("the folder exists already", path=str(path), hint=hint)


def _clear(partial: Path) -> None:
    """Remove what a run that was killed has left in a folder."""
    for entry in partial.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _install(partial: Path, path: Path) -> None:
    """Rename a complete folder; a folder of that name is removed first."""
    if not path.exists():
        partial.rename(path)
        return
    old = path.with_name(path.name + ".replaced")
    shutil.rmtree(old, ignore_errors=True)
    path.rename(old)
    partial.rename(path)
    shutil.rmtree(old, ignore_errors=True)


def is_free(path: Path) -> bool:
    """Return whether a folder can be written at a path: there is nothing, and no link, or an empty folder."""
    if path.is_symlink() or not path.is_dir():
        return not os.path.lexists(path)
    return next(path.iterdir(), None) is None


def check_replaceable(path: Path) -> None:
    """Check that nothing but a golden folder would be removed if this path were replaced.

    :raises FolderError: if the path is something else.
    """
    written = path.is_dir() and not path.is_symlink() and (path / MANIFEST).is_file()
    if not written and not is_free(path):
        hint = "`replace` removes golden folders and topics; name a new folder"
        raise FolderError("this is not a golden folder", path=str(path), hint=hint).about("replace")
