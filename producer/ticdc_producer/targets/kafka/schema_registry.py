"""A registry of Avro's schemas, through Confluent's client; on the driver alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from ticdc_producer.errors import RegistryError
from ticdc_producer.protocols.avro.schemas import Schema, SchemaIDs

if TYPE_CHECKING:
    from confluent_kafka.schema_registry import SchemaRegistryClient

T = TypeVar("T")
_TIMEOUT_S = 10
_NOT_FOUND = 404


class SchemaRegistry:
    """One registry.

    :param url: ``http`` or ``https``, user and password in it where it asks for them; ``mock://`` for one
        that lives in this process.
    :raises RegistryError: if the client is not installed.
    """

    def __init__(self, url: str) -> None:
        self._shown = _without_credentials(url)
        self._client = _client(url)

    def registered(self, schemas: Iterable[Schema]) -> SchemaIDs:
        """Register schemas; those that are there keep their ids.

        :return: part and schema to id.
        :raises RegistryError: for a registry that does not answer, or does not take a schema.
        """
        from confluent_kafka.schema_registry import Schema as Told

        def register(one: Schema) -> int:
            told = Told(one.schema, "AVRO")
            return self._asked(
                lambda: int(self._client.register_schema(one.subject, told)), f"subject {one.subject}"
            )

        return {(one.part, one.schema): register(one) for one in schemas}

    def schema(self, number: int) -> str | None:
        """The schema of an id; None where there is none.

        :raises RegistryError: for a registry that does not answer.
        """
        from confluent_kafka.schema_registry import SchemaRegistryError

        def fetch() -> str | None:
            try:
                return self._client.get_schema(number).schema_str
            except SchemaRegistryError as error:
                if error.http_status_code == _NOT_FOUND:
                    return None
                raise

        return self._asked(fetch, f"schema {number}")

    def _asked(self, ask: Callable[[], T], about: str) -> T:
        """:raises RegistryError: for whatever the client raises: its transport has errors of its own."""
        try:
            return ask()
        except Exception as error:
            what = f"the schema registry gives no answer about {about} ({type(error).__name__}: {error})"
            hint = "is it there, and does it take the schema? See its compatibility setting for the subject"
            raise RegistryError(what, address=self._shown, hint=hint) from None


@cache
def _client(url: str) -> SchemaRegistryClient:
    """One client for each registry: those in this process live in it."""
    try:
        from confluent_kafka.schema_registry import SchemaRegistryClient
    except ImportError as error:
        raise RegistryError(
            f"Confluent's client of schema registries is not complete here ({error})",
            address=_without_credentials(url),
            hint="pip install 'ticdc-producer[schema-registry]'",
        ) from None
    parts = urlsplit(url)
    if parts.scheme == "mock":
        return SchemaRegistryClient.new_client({"url": "mock://"})
    settings: dict[str, object] = {"url": _without_credentials(url), "timeout": _TIMEOUT_S, "max.retries": 1}
    if parts.username is not None:
        settings["basic.auth.user.info"] = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return SchemaRegistryClient(settings)


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
