"""The daemon: one report in every public slot, whatever the device does or knows."""

import pytest
from hazemap_device import Place
from hazemap_device.daemon import Daemon
from hazemap_device.report import Device
from hazemap_device.whereabouts import from_command, from_file

from tests.clients.rounds import Round, masses, quiet_shares

OPENS, LENGTH, SLOTS = 1_700_000_000, 3000, 3
SENT_AT = [OPENS + LENGTH // SLOTS * index + 20 for index in range(SLOTS)]
WEST, EAST = Place(lat=48.15, lon=16.2), Place(lat=48.15, lon=16.5)


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self, now):
        self.now = now

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class Watch:
    """A daemon with its clock, and what it said."""

    def __init__(self, served, folder, whereabouts, now=OPENS - 100):
        served.round = served.round if served.round.opens_at else Round(
            quiet_shares(), url=served.url, reports_per_person=SLOTS, opens_at=OPENS, closes_at=OPENS + LENGTH
        )  # fmt: skip
        self.clock = Clock(now)
        served.clock = self.clock
        links = folder / "links"
        served.invitations |= {f"{index:022}" for index in range(SLOTS)}
        links.write_text("".join(f"{served.link.rpartition('.')[0]}.{index:022}\n" for index in range(SLOTS)))
        self.lines = []
        self.daemon = Daemon(
            device=Device(folder / "state", clock=self.clock), links=links, whereabouts=whereabouts,
            clock=self.clock, sleep=self.clock.sleep, say=self.lines.append,
        )  # fmt: skip

    def until(self, moment):
        while self.clock.now < moment:
            wakes_at = self.daemon.step()
            self.clock.now = max(self.clock.now + 0.05, min(wakes_at, self.clock.now + 60, moment))


def known(_seconds):
    return WEST


def unknown(_seconds):
    return None


class Moving:
    """Another place whenever it is asked."""

    def __init__(self):
        self.places = [WEST, EAST, WEST]

    def __call__(self, _seconds):
        return self.places.pop(0)


@pytest.mark.parametrize("whereabouts", [known, unknown, Moving])
def test_one_report_a_slot_at_its_public_moment(whereabouts, served, tmp_path):
    watch = Watch(served, tmp_path, whereabouts() if whereabouts is Moving else whereabouts)
    watch.until(OPENS + LENGTH + 500)
    assert served.moments == pytest.approx(SENT_AT, rel=0, abs=1)
    assert len(set(served.packets)) == SLOTS


def test_how_long_reading_takes_is_not_seen(served, tmp_path):
    watch = Watch(served, tmp_path, known)
    watch.daemon.whereabouts = watch.clock.sleep  # it takes all the time there is, and knows nothing then
    watch.until(OPENS + LENGTH)
    assert served.moments == pytest.approx(SENT_AT, rel=0, abs=1)


def test_without_a_place_the_regions_centre_is_sent(served, tmp_path):
    Watch(served, tmp_path, unknown).until(OPENS + 100)
    # Half of all cells lie west of the centre, half south: it is in the cell north-east of it.
    assert masses(served.messages(served.packets[0])) == {3: 1024, 4 + 12: 1024}


def test_with_a_place_that_place_is_sent(served, tmp_path):
    Watch(served, tmp_path, known).until(OPENS + 100)
    assert masses(served.messages(served.packets[0])) == {0: 1024, 4: 1024}


def test_it_survives_restarts_and_never_sends_twice_in_a_slot(served, tmp_path):
    for now in range(OPENS, OPENS + LENGTH, 90):
        Watch(served, tmp_path, known, now=now).until(now + 90)
    assert len(served.packets) == len(set(served.packets)) == SLOTS


def test_who_starts_within_a_slot_sends_for_that_slot_alone(served, tmp_path):
    Watch(served, tmp_path, known, now=OPENS + 1500).until(OPENS + LENGTH)
    assert served.moments == pytest.approx([OPENS + 1520, SENT_AT[2]], rel=0, abs=1)


def test_who_starts_too_late_for_a_slot_waits_for_the_next(served, tmp_path):
    Watch(served, tmp_path, known, now=OPENS + 1990).until(OPENS + LENGTH)
    assert served.moments == pytest.approx([SENT_AT[2]], rel=0, abs=1)


def test_what_did_not_arrive_is_sent_again_as_it_was(served, tmp_path):
    watch = Watch(served, tmp_path, Moving())
    served.refusal = (500, "")
    watch.until(OPENS + 300)
    assert len(served.packets) > 3
    assert len(set(served.packets)) == 1
    served.refusal = None
    watch.until(OPENS + LENGTH)
    assert len(set(served.packets)) == SLOTS
    assert [report.state for report in watch.daemon.device.odometer.reports()] == ["received"] * SLOTS


def test_a_slot_without_any_connection_is_left_out_and_the_next_one_sent(served, tmp_path):
    watch = Watch(served, tmp_path, known)
    watch.until(OPENS - 50)  # it has the facts
    served.refusal = (500, "")
    watch.until(OPENS + 1990)  # too late for the second slot
    served.refusal = None
    watch.until(OPENS + LENGTH)
    assert len(set(served.packets)) == 2


def test_links_may_be_added_while_it_runs_and_a_bad_one_is_said(served, tmp_path):
    watch = Watch(served, tmp_path, known)
    (tmp_path / "links").write_text("nonsense\n")
    watch.until(OPENS + 100)
    assert served.packets == []
    assert "no link" in watch.lines[-1]
    (tmp_path / "links").write_text(served.link)
    watch.until(OPENS + 300)
    assert len(served.packets) == 1


def test_who_left_the_collection_sends_nothing(served, tmp_path):
    watch = Watch(served, tmp_path, known)
    watch.daemon.device.odometer.leave("commute")
    watch.until(OPENS + LENGTH)
    assert served.packets == []
    assert len(served.paths) == 3  # the facts, once: nobody who left keeps on asking


def test_a_file_says_where_the_device_is(tmp_path):
    file = tmp_path / "place"
    assert from_file(file)(1) is None
    file.write_text("1,2\n48.15,16.2\n\n")
    assert from_file(file)(1) == WEST
    file.write_text("48.15,16.2\nnowhere\n")
    assert from_file(file)(1) is None


def test_a_command_says_where_the_device_is():
    assert from_command("echo 48.15,16.2")(30) == WEST
    assert from_command("false")(30) is None
    assert from_command("sleep 20")(0.05) is None
    assert from_command("no-such-command")(30) is None
    assert from_command("echo 48.15,16.2 ';' rm")(30) is None
