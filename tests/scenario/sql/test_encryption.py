"""``AES_ENCRYPT`` under the values of ``block_encryption_mode``."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import rows_of
from ticdc_producer.errors import ScenarioError

TABLE = "create table t (v varchar(90)); set block_encryption_mode = '{}'; insert into t values ({})"
CALL = "hex(aes_encrypt('pingcap', '1234567890123456', '1234567890123456'))"


@pytest.mark.parametrize(
    ("mode", "encrypted"),
    [
        ("aes-128-ecb", "697BFE9B3F8C2F289DD82C88C7BC95C4"),
        ("AES-128-CBC", "2ECA0077C5EA5768A0485AA522774792"),
        ("aes-128-ofb", "0515A36BBF3DE0"),
        ("aes-128-cfb", "0515A36BBF3DE0"),
    ],
)
def test_the_vectors_of_tidb(mode: str, encrypted: str) -> None:
    assert rows_of(TABLE.format(mode, CALL)) == [(encrypted.encode(),)]


@pytest.mark.parametrize("chaining", ["ecb", "cbc", "ofb", "cfb"])
@pytest.mark.parametrize("bits", [128, 192, 256])
@pytest.mark.parametrize("text", ["", "sixteen bytes ..", "grün"])
def test_a_text_comes_back(bits: int, chaining: str, text: str) -> None:
    secret = "'a key that is longer than thirty-two bytes', 'a vector that is too long'"
    call = f"aes_decrypt(aes_encrypt('{text}', {secret}), {secret})"
    assert rows_of(TABLE.format(f"aes-{bits}-{chaining}", call)) == [(text.encode(),)]


@pytest.mark.parametrize(
    ("mode", "call", "message"),
    [
        ("aes-128-cbc", "aes_encrypt('a', 'k')", "Incorrect parameter count in the call to AES_ENCRYPT()"),
        ("aes-128-cbc", "aes_decrypt('a', 'k', 'short')", "supplied to aes_decrypt is too short"),
        ("aes-128-gcm", "1", "Variable 'block_encryption_mode' can't be set to the value of 'aes-128-gcm'"),
    ],
)
def test_errors(mode: str, call: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        rows_of(TABLE.format(mode, call))
    assert message in str(error.value)
