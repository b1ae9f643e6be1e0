"""Both roles of a round, running, and a device with a folder of its own."""

import pytest
from hazemap_device.report import Device

from tests.clients.roles import roles
from tests.clients.rounds import Round


@pytest.fixture
def served(request):
    with roles() as state:
        state.round = Round(url=state.url)
        yield state


@pytest.fixture
def device(tmp_path):
    return Device(tmp_path / "state")
