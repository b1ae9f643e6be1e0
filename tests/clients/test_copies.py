"""A device whose record is an older copy draws nothing again for a round that it may have reported to."""

import shutil
import time

import pytest
from hazemap_device import DeviceError, Place
from hazemap_device.__main__ import main
from hazemap_device.report import Device

from tests.clients.rounds import INSIDE, Round

HERE = Place(lat=INSIDE[0], lon=INSIDE[1])


@pytest.fixture
def older(device, tmp_path):
    """A copy of what the device knew before it reported."""
    return shutil.copytree(tmp_path / "state", tmp_path / "older")


def test_an_older_copy_takes_part_in_rounds_that_open_from_now_on(served, device, older):
    device.report(served.link, [HERE])
    copy = Device(older)
    for again in (copy, Device(older)):
        with pytest.raises(DeviceError) as refusal:
            again.report(served.link, [HERE])
        assert refusal.value.code == "older_record"
    assert len(served.packets) == 1
    opens_at = int(time.time()) + 100
    served.round = Round(url=served.url, opens_at=opens_at)
    Device(older, clock=lambda: opens_at + 1).report(served.link, [HERE])
    assert len(served.packets) == 2
    assert device.odometer.complete_since() == 0


def test_a_packet_that_waited_when_the_copy_was_made_is_sent_as_it_was(served, device, tmp_path):
    served.refusal = (500, "")
    with pytest.raises(DeviceError):
        device.report(served.link, [HERE])
    older = shutil.copytree(tmp_path / "state", tmp_path / "older")
    served.refusal = None
    device.report(served.link, [HERE])
    assert Device(older).report(served.link, [HERE]).is_resent
    assert len(set(served.packets)) == 1


def test_a_copy_restored_to_the_same_place_is_known_by_its_moment(served, device, older, tmp_path):
    """Its file may get the very inode that was given back."""
    device.report(served.link, [HERE])
    shutil.rmtree(tmp_path / "state")
    shutil.copytree(older, tmp_path / "state")
    with pytest.raises(DeviceError) as refusal:
        Device(tmp_path / "state").report(served.link, [HERE])
    assert refusal.value.code == "older_record"


def test_what_was_sent_is_listed_as_of_a_copy(older, capsys):
    assert main(["--state", str(older), "sent"]) == 0
    listed = capsys.readouterr().out
    assert "reports sent before" in listed
    assert "may be missing" in listed
