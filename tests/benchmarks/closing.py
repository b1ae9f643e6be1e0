"""The shuffler's closing of a round of the demo: open, mix and sort, beside bare opens and one sort.

In a process with the shuffler's settings. What packets hold are random bytes, which sealed messages are to a
shuffler.
"""

import hashlib
import secrets
import time

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from tests.benchmarks.collections import DEVICES, demo, tiny
from tests.benchmarks.measure import Figure, Size, compare
from tests.mechanisms.devices.mixing import set_up, stored


def figures(size: Size) -> list[Figure]:
    set_up()
    return [closing(size)]


def closing(size: Size) -> Figure:
    from heatmaps.shuffler.life.closing import mixed
    from heatmaps.shuffler.sealing import OVERHEAD_BYTES, SUITE

    setting, facts = tiny() if size.is_tiny else demo(), '{"kind":"hazemap round"}'
    devices, plan, key = 3 if size.is_tiny else DEVICES, setting.plan(), X25519PrivateKey.generate()
    public, sealed_bytes = key.public_key(), OVERHEAD_BYTES + plan.message_bytes
    info = b"hazemap packet 1\x00" + hashlib.sha256(facts.encode()).digest()
    texts = (secrets.token_bytes(plan.messages * sealed_bytes) for _ in range(devices))
    packets = [SUITE.encrypt(text, public, info) for text in texts]
    made = stored(
        facts, key.private_bytes_raw(), packets, messages=plan.messages, message_bytes=plan.message_bytes
    )

    def bare() -> object:
        joined = b"".join(SUITE.decrypt(packet, key, info) for packet in packets)
        return np.sort(np.frombuffer(joined, f"S{sealed_bytes}"))

    if mixed(made)[1] != devices:
        raise AssertionError("packets were lost")
    return compare(
        f"{setting.mechanism}, {setting.name}: the shuffler's closing of {devices} devices",
        lambda: mixed(made),
        "bare opens of the packets and numpy's sort of the messages",
        bare,
        repeats=setting.repeats,
        clock=time.process_time,
        goal=f"collections.{setting.goal}.closing" if setting.goal else "",
    )
