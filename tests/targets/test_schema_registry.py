"""The client of schema registries, against one in this process and one that does not exist."""

from __future__ import annotations

import pytest

from ticdc_producer.errors import RegistryError
from ticdc_producer.kafka.embedded.process import free_ports
from ticdc_producer.protocols.base import Schema
from ticdc_producer.targets.kafka.schema_registry import SchemaRegistry

INT, LONG = '{"type":"int"}', '{"type":"long"}'


def test_a_schema_keeps_its_id() -> None:
    registry = SchemaRegistry("mock://keeps")
    wanted = [Schema("t-key", "key", INT), Schema("t-value", "value", INT), Schema("t-value", "value", LONG)]
    ids = registry.registered(wanted)
    assert ids == registry.registered(reversed(wanted))
    assert [registry.schema(number) for number in ids.values()] == [INT, INT, LONG]


def test_an_unknown_id_has_no_schema() -> None:
    assert SchemaRegistry("mock://unknown").schema(77) is None


def test_an_unreachable_registry_is_named_without_its_password() -> None:
    (port,) = free_ports(1)
    with pytest.raises(RegistryError) as error:
        SchemaRegistry(f"http://me:secret@127.0.0.1:{port}").schema(1)
    assert error.value.address == f"http://me:***@127.0.0.1:{port}"
    assert "secret" not in str(error.value)
    assert error.value.exit_code == 3


def test_a_registration_that_fails_names_its_subject() -> None:
    (port,) = free_ports(1)
    with pytest.raises(RegistryError, match="subject t-key"):
        SchemaRegistry(f"http://127.0.0.1:{port}").registered([Schema("t-key", "key", INT)])
