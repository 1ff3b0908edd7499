"""Access to an Avro schema registry with Confluent's client."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ChangefeedError, RegistryError
from ticdc_producer.installation import install_command
from ticdc_producer.protocols.spec import Schema, SchemaIDs

if TYPE_CHECKING:
    from confluent_kafka.schema_registry import SchemaRegistryClient

T = TypeVar("T")
_TIMEOUT_S = 10
_NOT_FOUND = 404


class SchemaRegistry:
    """One registry.

    :param url: ``http`` or ``https``, with user and password if required; ``mock://`` for a registry in this
        process.
    :raises RegistryError: if the client is not installed.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = _client(url)

    def registered(self, schemas: Iterable[Schema]) -> SchemaIDs:
        """Register schemas; existing schemas keep their ids.

        :return: schema ids by part and schema.
        :raises RegistryError: if the registry does not answer or rejects a schema.
        """
        from confluent_kafka.schema_registry import Schema as RegistrySchema

        def register(schema: Schema) -> int:
            parsed = RegistrySchema(schema.schema, "AVRO")
            return self._request(
                lambda: int(self._client.register_schema(schema.subject, parsed)), f"subject {schema.subject}"
            )

        return {(schema.part, schema.schema): register(schema) for schema in schemas}

    def schema(self, number: int) -> str | None:
        """Return the schema with an id; None if it does not exist.

        :raises RegistryError: if the registry does not answer.
        """
        from confluent_kafka.schema_registry import SchemaRegistryError

        def fetch() -> str | None:
            try:
                return self._client.get_schema(number).schema_str
            except SchemaRegistryError as error:
                if error.http_status_code == _NOT_FOUND:
                    return None
                raise

        return self._request(fetch, f"schema {number}")

    def _request(self, call: Callable[[], T], about: str) -> T:
        """Call the client.

        :raises RegistryError: for any exception of the client, because its transport has exceptions of its
            own.
        """
        try:
            return call()
        except Exception as error:
            what = f"the schema registry request for {about} failed ({type(error).__name__}: {error})"
            hint = "is it running, and does the subject's compatibility setting allow the schema?"
            raise RegistryError(what, address=self._url, hint=hint) from None


@cache
def _client(url: str) -> SchemaRegistryClient:
    """Return the one client of a registry; an in-process registry exists only in its client."""
    try:
        from confluent_kafka.schema_registry import SchemaRegistryClient
    except ImportError as error:
        raise RegistryError(
            f"Confluent's schema registry client is not installed completely ({error})",
            address=url,
            hint=install_command("schema-registry"),
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


def schemas_of_registry(changefeed: Changefeed) -> Callable[[int], str | None]:
    """Return the lookup of schemas by their ids in a changefeed's registry. Tasks can have it.

    :raises ChangefeedError: if the changefeed names no registry.
    """
    if not changefeed.schema_registry:
        what, hint = "Avro messages cannot be decoded without schemas", "name the schema registry"
        raise ChangefeedError(what, parameter="schema-registry", hint=hint)
    return partial(_schema, changefeed.schema_registry)


def _schema(url: str, number: int) -> str | None:
    return SchemaRegistry(url).schema(number)
