"""What holds passkeys, played in Python: honest, or lying in one thing."""

import json
from dataclasses import dataclass, field
from hashlib import sha256

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import Aaguid, AttestationObject, AttestedCredentialData, AuthenticatorData

ORIGIN = "http://localhost"
FLAG = AuthenticatorData.FLAG
OWNER_WAS_THERE = FLAG.UP | FLAG.UV


@dataclass(kw_only=True)
class Authenticator:
    """One passkey of `user`, the handle that a server gave."""

    identifier: bytes = b"passkey-of-the-tests"
    user: str = ""
    signed: int = 0  # times, as it says
    key: object = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def make(self, options, *, flags=OWNER_WAS_THERE, rp=None, **lies):
        """The browser's answer to options of registration."""
        asked = options["publicKey"]
        self.user = asked["user"]["id"]
        public = AttestedCredentialData.create(
            Aaguid.NONE, self.identifier, ES256.from_cryptography_key(self.key.public_key())
        )
        data = AuthenticatorData.create(hashed(rp or asked["rp"]["id"]), flags | FLAG.AT, self.signed, public)
        said = {"attestationObject": AttestationObject.create("none", data, {})}
        return self._told("webauthn.create", asked, said, lies)

    def use(self, options, *, flags=OWNER_WAS_THERE, rp=None, user=None, **lies):
        """The browser's answer to options of authentication."""
        asked = options["publicKey"]
        data = AuthenticatorData.create(hashed(rp or asked["rpId"]), flags, self.signed)
        client_data = self._client_data("webauthn.get", asked, lies)
        signature = self.key.sign(data + sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        said = {"authenticatorData": data, "signature": signature}
        told = self._told("webauthn.get", asked, said, lies)
        told["response"]["userHandle"] = self.user if user is None else user
        return told

    def _told(self, kind, asked, said, lies):
        letters = {name: websafe_encode(bytes(value)) for name, value in said.items()}
        letters["clientDataJSON"] = websafe_encode(self._client_data(kind, asked, lies))
        number = websafe_encode(self.identifier)
        extensions = {"credProps": {"rk": True}}
        return {
            "id": number,
            "rawId": number,
            "type": "public-key",
            "response": letters,
            "clientExtensionResults": extensions,
        }

    @staticmethod
    def _client_data(kind, asked, lies):
        told = {"type": kind, "challenge": asked["challenge"], "origin": ORIGIN, "crossOrigin": False}
        return json.dumps(told | lies).encode()


def hashed(rp):
    return sha256(rp.encode()).digest()


__all__ = ["FLAG", "ORIGIN", "OWNER_WAS_THERE", "Authenticator", "websafe_decode", "websafe_encode"]
