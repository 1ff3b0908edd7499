"""Access to an Avro schema registry with Confluent's client, and the schemas that messages refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from ticdc_producer.config import Changefeed
from ticdc_producer.engine.dataset import Batches, Dataset, Part
from ticdc_producer.errors import ChangefeedError, RegistryError
from ticdc_producer.installation import install_command
from ticdc_producer.protocols.base import Schema, SchemaIDs
from ticdc_producer.protocols.spec import Options
from ticdc_producer.targets.record_batches import with_table_schemas

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
    """Return the lookup of schemas by their ids in a changefeed's registry. Tasks can receive it.

    :raises ChangefeedError: if the changefeed names no registry.
    """
    if not changefeed.schema_registry:
        what, hint = "Avro messages cannot be decoded without schemas", "name the schema registry"
        if changefeed.glue_registry:
            hint = "AWS Glue is not reached: verify with the scenario, or decode the golden folder"
        raise ChangefeedError(what, parameter="schema-registry", hint=hint)
    return partial(_schema, changefeed.schema_registry)


def registry_options(changefeed: Changefeed) -> dict[str, object]:
    """Return the options of a changefeed's decoder, which looks up schemas in its registry.

    :raises ChangefeedError: for a protocol with schemas, if the changefeed names no registry.
    """
    options = changefeed.codec_options()
    if changefeed.spec.schemas is not None:
        options["schema_of"] = schemas_of_registry(changefeed)
    return options


def _schema(url: str, number: int) -> str | None:
    return SchemaRegistry(url).schema(number)


_MOST = 10_000
"""Schemas of one stream that are fetched; further ids are treated as unknown."""


def registered(changefeed: Changefeed, schemas: Iterable[Schema]) -> SchemaIDs | None:
    """Return the ids that the changefeed's registry assigns; None without a registry.

    :raises RegistryError: for a registry that does not answer or rejects a schema.
    """
    return (
        SchemaRegistry(changefeed.schema_registry).registered(schemas) if changefeed.schema_registry else None
    )


def with_schemas(
    options: Options, changefeed: Changefeed, messages: Dataset, own: Mapping[int, str]
) -> Options:
    """Return a decoder's options with the schemas that messages refer to.

    :param messages: with ``key`` and ``value`` of ``MESSAGES``, in any order; searched for schema ids if the
        changefeed has a registry.
    :param own: schemas of a folder or job, used without a registry.
    :raises RegistryError: for a registry that does not answer.
    """
    if changefeed.spec.schemas is None:
        return options
    if not changefeed.schema_registry:
        return {**options, "schemas": dict(own)}
    ids = partial(_ids, changefeed.spec.schemas.id_in)
    numbers = frozenset[int]().union(*messages.select("key", "value").results(ids))
    registry = SchemaRegistry(changefeed.schema_registry)
    schemas = {number: registry.schema(number) for number in sorted(numbers)[:_MOST]}
    return {
        **options,
        "schemas": {number: schema for number, schema in schemas.items() if schema is not None},
    }


def decoder_options(changefeed: Changefeed, messages: Dataset, schemas: Mapping[int, str]) -> Options:
    """Return the options of the decoder of messages, with the schemas that they refer to or describe.

    :param messages: shape ``MESSAGES``, in any order.
    :param schemas: those of a folder or job, by their ids; empty: those of the changefeed's registry.
    :raises RegistryError: for a registry that does not answer.
    """
    own = changefeed.model_copy(update={"schema_registry": ""}) if schemas else changefeed
    options = with_schemas(changefeed.codec_options(), own, messages, schemas)
    return with_table_schemas(messages, changefeed.protocol, options)


def _ids(id_in: Callable[[bytes], int | None], _part: Part, batches: Batches) -> frozenset[int]:
    """Return the schema ids in the messages of a part, at most as many as are fetched."""
    numbers: set[int] = set()
    for batch in batches:
        parts = (part for name in ("key", "value") for part in batch.column(name).to_pylist())
        numbers.update(number for part in parts if part and (number := id_in(part)) is not None)
        if len(numbers) > _MOST:
            numbers = set(sorted(numbers)[:_MOST])
    return frozenset(numbers)
