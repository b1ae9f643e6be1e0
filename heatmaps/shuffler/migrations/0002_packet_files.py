"""Moves the packets of rounds that did not end from rows, which keep their order of arrival, into files."""

from typing import Any

from django.db import migrations, models

from heatmaps.shuffler import secret_texts
from heatmaps.shuffler.life import round_files
from heatmaps.shuffler.life.packet_file import PacketFile

_OPEN = ("prepared", "ready", "closing")


def move_packets(apps: Any, _schema: Any) -> None:
    """Killed in between, it is run again from the rows, which are still there."""
    for ongoing in apps.get_model("shuffler", "Round").objects.filter(state__in=_OPEN):
        invitations = ongoing.invitation_set.order_by("digest")
        file = PacketFile.of_round(ongoing)
        file.make()
        if ongoing.open_link:
            round_files.write_link_key(ongoing.pk, secret_texts.new_link_key())
        else:
            for slot, digest in enumerate(invitations.values_list("digest", flat=True)):
                invitations.filter(digest=digest).update(slot=slot)
        stored = invitations.exclude(packet=None).values_list("slot", "digest", "packet")
        for slot, digest, packet in stored.iterator(chunk_size=16):
            place = file.free_slot() if slot is None else slot
            file.write(place, bytes.fromhex(digest), bytes(packet))


class Migration(migrations.Migration):
    dependencies = [("shuffler", "0001_initial")]

    operations = [
        migrations.AddField("Invitation", "slot", models.PositiveIntegerField(null=True)),
        migrations.RunPython(move_packets, elidable=True),
        migrations.RemoveField("Invitation", "packet"),
        migrations.AlterField(
            "Round",
            "state",
            models.CharField(
                choices=[
                    ("prepared", "key and invitations are made; the facts are not fixed yet"),
                    ("ready", "facts fixed; packets are taken between the moments"),
                    ("closing", "no more packets; not handed over yet"),
                    ("handed_over", "handed over and forgotten"),
                    ("too_few", "too few reports: nothing handed over, all forgotten"),
                    ("cancelled", "cancelled by the analyser, all forgotten"),
                    ("refused", "the analyser's facts did not hold what was committed, all forgotten"),
                    ("given_up", "the analyser took nothing, all forgotten"),
                    ("restored", "the state is a copy: nothing handed over, all forgotten"),
                ],
                default="prepared",
                max_length=20,
            ),
        ),
    ]
