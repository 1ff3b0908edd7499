"""Functions that convert IP addresses and UUIDs to numbers and bytes.

Rules: tidb ``pkg/expression/builtin_miscellaneous.go``.
"""

from __future__ import annotations

import ipaddress
import re
from uuid import UUID

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.sql_value import SQLValue, Unsigned, display_value
from ticdc_producer.scenario.sql.expression.eval_type import E
from ticdc_producer.scenario.sql.functions.function import (
    Function,
    any_arguments,
    to_integer,
    value_function,
)

_PLAIN_UUID = r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
_OCTET = re.compile(r"[0-9]{0,1000}")
_UUID = re.compile(
    rf"(?:urn:uuid:)?{_PLAIN_UUID}|([0-9a-f]{{32}})|.{_PLAIN_UUID}.", re.IGNORECASE | re.ASCII | re.DOTALL
)
"""The texts of a UUID, also in braces, for which Go's library takes any two characters."""


def _inet_aton(value: SQLValue) -> SQLValue:
    """Return ``INET_ATON``; the last number of a short form, such as ``127.1``, is the last byte.

    :raises ScenarioError: for another text, whatever the sql_mode.
    """
    parts = to_text(value).split(".")
    is_address = len(parts) <= 4 and parts[-1] and all(_OCTET.fullmatch(part) for part in parts)
    if not is_address or any(int(part or 0) > 255 for part in parts):
        raise _wrong("inet_aton", value)
    numbers = [int(part or 0) for part in parts]
    padded = numbers[:-1] + [0] * (4 - len(numbers)) + numbers[-1:]
    return Unsigned(int.from_bytes(bytes(padded), "big"))


def _inet_ntoa(value: SQLValue) -> SQLValue:
    number = to_integer(value)
    return ".".join(str(octet) for octet in number.to_bytes(4, "big")) if 0 <= number < 1 << 32 else None


def _inet6_aton(value: SQLValue) -> SQLValue:
    try:
        return ipaddress.ip_address(to_text(value)).packed
    except ValueError:
        raise _wrong("inet_aton6", value) from None


def _wrong(name: str, value: SQLValue) -> ScenarioError:
    """Return the error for a text that is not an address, which is one in every sql_mode."""
    text = display_value(value)
    return ScenarioError(f"Incorrect string value: {text!r} for function {name}", value=text)


def _inet6_ntoa(value: SQLValue) -> SQLValue:
    octets = to_bytes(value)
    if len(octets) not in (4, 16):
        return None
    if len(octets) == 4:
        return str(ipaddress.IPv4Address(octets))
    address = ipaddress.IPv6Address(octets)
    mapped = address.ipv4_mapped
    return str(address) if mapped is None else f"::ffff:{mapped}"


def _is_ipv4(value: SQLValue) -> SQLValue:
    try:
        ipaddress.IPv4Address(to_text(value))
    except ValueError:
        return False
    return True


def _is_ipv6(value: SQLValue) -> SQLValue:
    try:
        ipaddress.IPv6Address(to_text(value))
    except ValueError:
        return False
    return True


def _embeds_ipv4(prefix: bytes) -> Function:
    """Make a function that returns whether an IPv6 address is an IPv4 address after a prefix."""

    def run(value: SQLValue) -> SQLValue:
        return isinstance(value, bytes) and len(value) == 16 and value.startswith(prefix)

    return value_function(run, 1, type=E.INTEGER)


def _is_uuid(value: SQLValue) -> SQLValue:
    return _UUID.fullmatch(to_text(value)) is not None


def _uuid_to_bin(value: SQLValue, swap: SQLValue = 0) -> SQLValue:
    uuid = _UUID.fullmatch(to_text(value))
    if uuid is None:
        raise ScenarioError("Incorrect string value for function uuid_to_bin", value=display_value(value))
    octets = UUID(uuid[uuid.lastindex or 0]).bytes
    return octets[6:8] + octets[4:6] + octets[:4] + octets[8:] if to_integer(swap) else octets


def _bin_to_uuid(value: SQLValue, swap: SQLValue = 0) -> SQLValue:
    octets = to_bytes(value)
    if len(octets) != 16:
        raise ScenarioError("Incorrect string value for function bin_to_uuid", value=display_value(value))
    plain = octets[4:8] + octets[2:4] + octets[:2] + octets[8:] if to_integer(swap) else octets
    return str(UUID(bytes=plain))


FUNCTIONS = {
    "BIN_TO_UUID": value_function(_bin_to_uuid, 1, 2, integers=(1,), type=E.TEXT),
    "INET6_ATON": value_function(_inet6_aton, 1, null_in_query=True, type=E.BYTES),
    "INET6_NTOA": value_function(_inet6_ntoa, 1, type=E.TEXT),
    "INET_ATON": value_function(_inet_aton, 1, null_in_query=True, type=E.UNSIGNED),
    "INET_NTOA": value_function(_inet_ntoa, 1, integers=(0,), type=E.TEXT),
    "IS_IPV4": value_function(_is_ipv4, 1, type=E.INTEGER),
    "IS_IPV4_COMPAT": _embeds_ipv4(bytes(12)),
    "IS_IPV4_MAPPED": _embeds_ipv4(bytes(10) + b"\xff\xff"),
    "IS_IPV6": value_function(_is_ipv6, 1, type=E.INTEGER),
    "IS_UUID": value_function(_is_uuid, 1, type=E.INTEGER),
    "UUID_TO_BIN": value_function(_uuid_to_bin, 1, 2, integers=(1,), type=E.BYTES, default=any_arguments),
}
