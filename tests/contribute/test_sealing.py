"""What JavaScript seals, Python opens, and the other way round; every message by itself."""

import secrets

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
FACTS = bytes(range(32))
PACKET = """
const { packetOf } = await import("./sealing.js");
answer(await packetOf({ analyserKey: given.analyser, shufflerKey: given.shuffler, factsSha256: given.facts },
  given.messages));
"""
OPENED = """
const { opened } = await import("./sealing.js");
answer(await opened(given.key, "hazemap packet 1", given.facts, given.sealed));
"""


@pytest.fixture(scope="module")
def keys():
    return X25519PrivateKey.generate(), X25519PrivateKey.generate()


def test_python_opens_what_javascript_sealed(node, keys):
    analyser, shuffler = keys
    messages = [bytes([axis, 0, 1, 255]) for axis in range(7)]
    packet = packet_of(node, keys, messages)
    assert len(packet) == 48 + len(messages) * (48 + 4)
    joined = SUITE.decrypt(packet, shuffler, b"hazemap packet 1\0" + FACTS)
    sealed = [joined[at : at + 52] for at in range(0, len(joined), 52)]
    assert [SUITE.decrypt(one, analyser, b"hazemap message 1\0" + FACTS) for one in sealed] == messages
    # A key of a report's own would join its messages again, behind the shuffler.
    assert len({one[:32] for one in [*sealed, packet]}) == len(messages) + 1


def test_a_packet_holds_for_one_text_of_facts_only(node, keys):
    packet = packet_of(node, keys, [b"\0\0\0\1"])
    for facts in (bytes(32), FACTS[:31] + b"\0"):
        with pytest.raises(InvalidTag):
            SUITE.decrypt(packet, keys[1], b"hazemap packet 1\0" + facts)


def test_javascript_opens_what_python_sealed(node, keys):
    plain = secrets.token_bytes(500)
    sealed = SUITE.encrypt(plain, keys[1].public_key(), b"hazemap packet 1\0" + FACTS)
    key = keys[1].private_bytes_raw()
    given = {"key": {"hex": key.hex()}, "facts": {"hex": FACTS.hex()}, "sealed": {"hex": sealed.hex()}}
    assert bytes.fromhex(node(OPENED, given)) == plain


@pytest.mark.long
@pytest.mark.parametrize("is_native", [True, False], ids=["of the browser", "of the package"])
def test_either_x25519_seals_the_same(node, keys, is_native):
    program = """
    const { sealer, suiteOf } = await import("./sealing.js");
    const seal = await sealer(given.key, "hazemap message 1", given.facts, suiteOf(given.isNative));
    answer(await seal(given.plain));
    """
    given = {
        "key": public(keys[0].public_key()),
        "facts": {"hex": FACTS.hex()},
        "plain": {"hex": "0102"},
        "isNative": is_native,
    }
    sealed = bytes.fromhex(node(program, given))
    assert SUITE.decrypt(sealed, keys[0], b"hazemap message 1\0" + FACTS) == b"\1\2"


def test_it_refuses_a_key_that_gives_everybody_the_secret(node):
    program = """
    const { sealer, suiteOf } = await import("./sealing.js");
    const zeros = new Uint8Array(32);
    const tried = [true, false].map((isNative) =>
      sealer(zeros, "hazemap message 1", zeros, suiteOf(isNative)).then((seal) => seal(zeros)));
    answer((await Promise.allSettled(tried)).map(({ status }) => status));
    """
    assert node(program) == ["rejected", "rejected"]


def packet_of(node, keys, messages):
    analyser, shuffler = (public(key.public_key()) for key in keys)
    given = {
        "analyser": analyser,
        "shuffler": shuffler,
        "facts": {"hex": FACTS.hex()},
        "messages": [{"hex": message.hex()} for message in messages],
    }
    return bytes.fromhex(node(PACKET, given))


def public(key: X25519PublicKey):
    return {"hex": key.public_bytes_raw().hex()}
