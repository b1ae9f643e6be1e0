"""The shuffler's closing of a round of the demo: open, mix and sort, beside bare opens and one sort.

In a process with the shuffler's settings. What packets hold are random bytes, which sealed messages are to a
shuffler.
"""

import hashlib
import json
import secrets
import time
from dataclasses import asdict

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from tests.benchmarks.collections import DEVICES, demo
from tests.benchmarks.measure import Figure, compare
from tests.mechanisms.devices.mixing import set_up, stored


def main() -> None:
    set_up()
    print(json.dumps(asdict(closing())))


def closing() -> Figure:
    from heatmaps.shuffler.life.closing import mixed
    from heatmaps.shuffler.sealing import OVERHEAD_BYTES, SUITE

    setting, facts = demo(), '{"kind":"hazemap round"}'
    plan, key = setting.plan(), X25519PrivateKey.generate()
    public, size = key.public_key(), OVERHEAD_BYTES + plan.message_bytes
    info = b"hazemap packet 1\x00" + hashlib.sha256(facts.encode()).digest()
    packets = [SUITE.encrypt(secrets.token_bytes(plan.messages * size), public, info) for _ in range(DEVICES)]
    made = stored(facts, key.private_bytes_raw(), packets, message_bytes=plan.message_bytes)

    def bare() -> object:
        joined = b"".join(SUITE.decrypt(packet, key, info) for packet in packets)
        return np.sort(np.frombuffer(joined, f"S{size}"))

    if mixed(made)[1] != DEVICES:
        raise AssertionError("packets were lost")
    return compare(
        f"{setting.mechanism}, {setting.name}: the shuffler's closing of {DEVICES} devices",
        lambda: mixed(made),
        "bare opens of the packets and numpy's sort of the messages",
        bare,
        repeats=setting.repeats,
        clock=time.process_time,
    )
