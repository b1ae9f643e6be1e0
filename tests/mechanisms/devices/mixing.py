"""Closes a round as the shuffler does, in a process of its own: its settings are not the analyser's.

`python -m tests.mechanisms.devices.mixing FOLDER`, with HAZEMAP_SHUFFLER_STATE: of `packets`, `key` and
`round.json` in the folder makes `batch`.
"""

import hashlib
import json
import os
import sys
from pathlib import Path
from uuid import uuid4

import django


def stored(facts, key, packets, *, messages, message_bytes):
    """A round in the shuffler's database, its packets and its key in files."""
    from heatmaps.shuffler.life import round_files
    from heatmaps.shuffler.life.packet_file import PacketFile
    from heatmaps.shuffler.models import Collection, Round, State

    collection = Collection.objects.create(slug=f"audit-{uuid4()}")
    made = Round.objects.create(
        id=uuid4(),
        collection=collection,
        number=1,
        state=State.CLOSING,
        places=len(packets),
        open_link=False,
        reports_per_person=1,
        opens_at=0,
        closes_at=1,
        least_reports=len(packets),
        messages=messages,
        message_bytes=message_bytes,
        facts=facts,
    )
    round_files.write_key(made.pk, key)
    file = PacketFile.of_round(made)
    file.make()
    for slot, packet in enumerate(packets):
        file.write(slot, hashlib.sha256(packet).digest(), packet)
    return made


def set_up():
    os.environ["DJANGO_SETTINGS_MODULE"] = "heatmaps.shuffler.settings"
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def main(folder):
    set_up()
    from heatmaps.shuffler.life.closing import mixed

    told = json.loads((folder / "round.json").read_text())
    joined, size = (folder / "packets").read_bytes(), told["packet_bytes"]
    packets = [joined[at : at + size] for at in range(0, len(joined), size)]
    sizes = {name: told[name] for name in ("messages", "message_bytes")}
    made = stored(told["facts"], (folder / "key").read_bytes(), packets, **sizes)
    batch, reports = mixed(made)
    (folder / "batch").write_bytes(batch)
    print(reports)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
