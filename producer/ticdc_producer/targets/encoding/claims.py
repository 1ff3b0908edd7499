"""Writes claim-check objects to their storage."""

from __future__ import annotations

from collections.abc import Iterable

from ticdc_producer.config.file_system import claim_storage, failures, make_folder, storage_error
from ticdc_producer.errors import StorageError
from ticdc_producer.model.event import ClaimObject


class ClaimWriter:
    """Writes objects to one storage.

    Existing objects are overwritten; their names are derived from their content, so this changes nothing.

    :param storage: ``claim-check-storage-uri``, or the path of a local folder.
    :raises StorageError: if the storage cannot be written.
    """

    def __init__(self, storage: str) -> None:
        self._storage = storage
        self._system, self._folder = claim_storage(storage)
        try:
            make_folder(self._system, self._folder)
        except failures() as error:
            raise self._failure(error) from None

    def write(self, claims: Iterable[ClaimObject]) -> None:
        """Store objects, before the message that names them is sent.

        :raises StorageError: if the storage rejects one.
        """
        try:
            for claim in claims:
                self._system.pipe_file(f"{self._folder}/{claim.name}", claim.content)
        except failures() as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> StorageError:
        return storage_error(
            f"claim-check objects cannot be written to {self._storage}", self._storage, error
        )
