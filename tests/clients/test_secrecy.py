"""Places, invitations and random numbers are in no exception, log line, repr, output or file."""

import contextlib
import logging
import traceback

import pytest
from hazemap_device import DeviceError, Place
from hazemap_device.__main__ import main
from hazemap_device.link import Link
from hazemap_device.odometer import Pending
from hazemap_device.places import Region
from hazemap_device.report import Device

from tests.clients.roles import SECRET
from tests.clients.rounds import KINDS, Round, masses, quiet_shares

LAT, LON = "48.2718281", "16.3141592"
PLANTED = (LAT, LON, "2718281", "3141592", SECRET)
HERE = Place(lat=float(LAT), lon=float(LON))


def said(error):
    """All that an exception, what it came from and what came before it say."""
    texts = []
    while error is not None:
        texts += [str(error), repr(error), repr(error.args), "".join(traceback.format_exception(error))]
        error = error.__cause__ or error.__context__
    return "\n".join(texts)


def planted_in(text):
    return [value for value in PLANTED if value in text]


def test_a_planted_value_is_found():
    assert planted_in(said(ValueError(f"no float: {LAT}"))) == [LAT, "2718281"]


def break_receipt(served):
    served.posted = lambda *arguments: (201, {"receipt": "00" * 32})


def break_facts(served):
    served.round.facts["version"] = 2


def break_key(served):
    served.analyser_facts = Round(url=served.url, id=served.round.id).content


def break_refusal(served):
    served.refusal = (403, f"unknown {SECRET}")


def break_closed(served):
    served.refusal = (410, "round_closed")


def break_table(served):
    served.round.table = b"\0" * len(served.round.table)


@pytest.mark.parametrize(
    "fault", [break_receipt, break_facts, break_key, break_refusal, break_closed, break_table]
)
def test_no_refusal_says_where_somebody_is(fault, served, device, caplog):
    caplog.set_level(logging.DEBUG)
    fault(served)
    with pytest.raises(DeviceError) as refusal:
        device.report(served.link, [HERE])
    assert planted_in(said(refusal.value) + caplog.text) == []


@pytest.mark.parametrize("text", [f"{LAT};{LON}", f"{LAT},{LON},{SECRET}", f"{LAT}.,{LON}", f"1{LAT},{LON}"])
def test_a_text_that_is_no_place_is_not_repeated(text):
    with pytest.raises(DeviceError) as refusal:
        Place.parse(text)
    assert planted_in(said(refusal.value)) == []


def test_a_link_that_is_none_is_not_repeated():
    with pytest.raises(DeviceError) as refusal:
        Link.parse(f"https://maps.example/contribute/#00000000.{SECRET}")
    assert planted_in(said(refusal.value)) == []


def test_no_repr_says_it(device):
    link = Link(shuffler="https://a.example", round="00000000-0000-4000-8000-000000000000", secret=SECRET)
    pending = Pending(id=1, address="https://a.example", packet=b"2718281", invitation=SECRET)
    assert planted_in(f"{HERE!r} {[HERE]} {link!r} {pending!r} {device.__dict__!r}") == []


@pytest.mark.parametrize("arguments", [
    ["report", "LINK", "--place", f"{LAT};{LON}", "--yes"], ["report", "LINK", f"{LAT},{LON}"],
    ["report", "LINK", "--place", f"{LAT},{LON}", "--yes", SECRET], [f"{LAT},{LON}"], ["show", f"x{SECRET}"],
    ["report", "LINK", "--place", f"{LAT},{LON}", "--yes"], ["sent"],
])  # fmt: skip
def test_no_command_says_it(arguments, served, tmp_path, capsys, caplog):
    caplog.set_level(logging.DEBUG)
    link = [
        "--state",
        str(tmp_path / "state"),
        *(served.link if text == "LINK" else text for text in arguments),
    ]
    with contextlib.suppress(SystemExit):
        main(link)
    written = capsys.readouterr()
    assert planted_in(written.out + written.err + caplog.text) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arrives", [True, False])
def test_no_file_of_the_device_holds_a_place_or_a_message(kind, arrives, served, tmp_path):
    served.round = Round(KINDS[kind](), url=served.url)
    device = Device(tmp_path / "state")
    if arrives:
        device.report(served.link, [HERE])
    else:
        served.refusal = (500, "")
        with pytest.raises(DeviceError):
            device.report(served.link, [HERE])
    files = b"".join(path.read_bytes() for path in (tmp_path / "state").iterdir())
    assert not any(value.encode() in files for value in PLANTED[:4])
    x, y = 720261720, 1579650902  # the finest cell
    for number in (x, y):
        assert str(number).encode() not in files
        assert number.to_bytes(4, "big") not in files
        assert number.to_bytes(4, "little") not in files
    messages = served.messages(served.packets[0])
    assert b"".join(messages[:8]).ljust(4, b"\xff") not in files or len(messages) == 1


def test_the_finest_cell_that_is_looked_for_is_the_places(served, device):
    region = Region(west=16.18, south=48.11, east=16.58, north=48.33)
    assert region.cell(HERE) == (720261720, 1579650902)
    served.round = Round(quiet_shares(), url=served.url)
    device.report(served.link, [HERE])
    assert masses(served.messages(served.packets[0])) == {2: 1024, 4 + 9: 1024}
