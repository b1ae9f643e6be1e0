"""Shares sum to the masses of a person's places, on every level."""

from hazemap_device import Place

from tests.clients.rounds import Round, masses, quiet_shares

QUARTERS = [(48.15, 16.2), (48.15, 16.5), (48.3, 16.2), (48.3, 16.5)]  # in Morton order


def sent(served, device, places):
    served.round = Round(quiet_shares(), url=served.url)
    device.report(served.link, [Place(lat=lat, lon=lon) for lat, lon in places])
    return masses(served.messages(served.packets[0]))


def test_one_place_has_all_parts(served, device):
    assert sent(served, device, QUARTERS[1:2]) == {1: 1024, 4 + 5: 1024}


def test_several_places_share_the_parts_in_whole_ones(served, device):
    parts = 1024 // 3
    found = sent(served, device, [QUARTERS[0], QUARTERS[0], QUARTERS[3]])
    assert {place: found[place] for place in (0, 3)} == {0: 2 * parts, 3: parts}
    assert sum(value for place, value in found.items() if place >= 4) == 3 * parts
