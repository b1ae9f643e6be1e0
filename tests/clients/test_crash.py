"""A process that is killed in the middle of a report: what was counted, what is sent afterwards."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hazemap_device import DeviceError, Place, report
from hazemap_device.report import Device

from tests.clients.rounds import INSIDE, Round

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "device"
HERE = Place(lat=INSIDE[0], lon=INSIDE[1])
ELSEWHERE = Place(lat=48.3, lon=16.5)

# A child that reports, and dies at the call of one function of `hazemap_device.report`.
CHILD = """
import os, signal, sys
from hazemap_device import Place, report
if sys.argv[3]:
    setattr(report, sys.argv[3], lambda *arguments, **named: os.kill(os.getpid(), signal.SIGKILL))
report.Device(sys.argv[1]).report(sys.argv[2], [Place(lat=48.2, lon=16.37)])
"""


def report_in_a_child(state, link, *, dies_at=""):
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(state), link, dies_at], env={"PYTHONPATH": str(CLIENT)}
    )


def states(device):
    return [report.state for report in device.odometer.reports()]


def test_killed_before_the_draw_nothing_is_sent_and_it_is_counted(served, tmp_path):
    child = report_in_a_child(tmp_path / "state", served.link, dies_at="sealed_packet")
    assert child.wait() == -signal.SIGKILL
    device = Device(tmp_path / "state")
    assert served.packets == []
    assert states(device) == ["lost"]
    assert not device.report(served.link, [HERE]).is_resent
    assert states(device) == ["lost", "received"]


def test_killed_before_the_sending_the_same_bytes_are_sent_later(served, tmp_path):
    child = report_in_a_child(tmp_path / "state", served.link, dies_at="send")
    assert child.wait() == -signal.SIGKILL
    device = Device(tmp_path / "state")
    assert served.packets == []
    assert states(device) == ["pending"]
    kept = device.odometer.pending(served.round.id)[0].packet
    assert device.report(served.link, [ELSEWHERE]).is_resent
    assert served.packets == [kept]
    assert states(device) == ["received"]


def test_killed_after_the_sending_the_same_bytes_are_sent_again(served, tmp_path):
    def die():
        served.before_answer = lambda: None
        os.kill(child.pid, signal.SIGKILL)

    served.before_answer = die
    child = report_in_a_child(tmp_path / "state", served.link)
    assert child.wait() == -signal.SIGKILL
    device = Device(tmp_path / "state")
    assert states(device) == ["pending"]
    assert device.report(served.link, [ELSEWHERE]).is_resent
    assert len(served.packets) == 2
    assert served.packets[0] == served.packets[1]
    assert states(device) == ["received"]


def test_the_count_is_on_the_disk_before_anything_is_drawn(served, device, monkeypatch):
    """Seen by another connection in the moment in which the draw begins."""
    seen = []
    system_words = report.SystemWords

    def looked():
        seen.append(states(Device(device.odometer._path.parent)))
        return system_words()

    monkeypatch.setattr(report, "SystemWords", looked)
    device.report(served.link, [HERE])
    assert seen == [["lost"]]


def test_a_packet_and_its_invitation_are_deleted_with_the_receipt(served, device):
    served.refusal = (429, "too_many_requests")
    with pytest.raises(DeviceError):
        device.report(served.link, [HERE])
    packet = served.packets[0]
    secret = served.headers[0]["Hazemap-Invitation"].encode()
    file = device.odometer._path
    assert packet[:64] in file.read_bytes()
    served.refusal = None
    device.report(served.link, [HERE])
    left = b"".join(path.read_bytes() for path in file.parent.iterdir())
    assert secret not in left
    assert not any(packet[at : at + 64] in left for at in range(0, len(packet), 64))


def test_packets_of_closed_rounds_are_deleted(served, tmp_path):
    device = Device(tmp_path / "state")
    served.refusal = (500, "")
    with pytest.raises(DeviceError):
        device.report(served.link, [HERE])
    closed = served.round.facts["closes_at"]
    with pytest.raises(DeviceError, match="closed"):
        Device(tmp_path / "state", clock=lambda: closed).report(served.link, [HERE])
    assert states(device) == ["dropped"]
    assert len(served.packets) == 1


def test_only_its_owner_may_read_what_a_device_sent(served, device):
    served.round = Round(url=served.url, open_link=True)
    device.report(served.link, [HERE])
    folder = device.odometer._path.parent
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_two_processes_do_not_send_more_than_one_person_may(served, tmp_path):
    served.round = Round(url=served.url, reports_per_person=1)
    children = [report_in_a_child(tmp_path / "state", served.link) for _ in range(3)]
    codes = sorted(child.wait() for child in children)
    assert codes == [0, 1, 1]
    assert len(served.packets) == 1
