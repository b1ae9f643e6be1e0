"""The compose file of collections: the shuffler beside the analyser, with nothing of the analyser's."""

import json
import re
from importlib.resources import files
from ipaddress import ip_address, ip_network

import jsonschema
import pytest

from tests.services import compose
from tests.services.installation import ROOT

OWN = compose.parsed(compose.COLLECTIONS, with_included=False)
WHOLE = compose.parsed(compose.COLLECTIONS)
ANALYSER = compose.parsed()
SHUFFLER = OWN["services"]["shuffler"]
HEAD = (ROOT / compose.COLLECTIONS).read_text().split("\nname:")[0]


@pytest.mark.parametrize("file", [OWN, WHOLE], ids=["as it stands", "with what it includes"])
def test_it_is_valid_by_the_compose_specification(file):
    text = files("check_jsonschema").joinpath("builtin_schemas/vendor/compose-spec.json").read_text()
    assert [
        error.message for error in jsonschema.Draft202012Validator(json.loads(text)).iter_errors(file)
    ] == []


def test_it_adds_the_shuffler_and_changes_nothing_of_the_analyser():
    assert OWN["include"] == ["docker-compose.yml"]
    assert OWN["name"] == ANALYSER["name"]  # else its volumes would be others
    assert {name: WHOLE["services"][name] for name in ANALYSER["services"]} == ANALYSER["services"]
    assert set(WHOLE["services"]) == {*ANALYSER["services"], "shuffler"}


def test_the_shuffler_has_nothing_of_the_analyser():
    """Neither what it keeps nor a way to it but the one that everybody has."""
    assert "secrets" not in SHUFFLER
    assert "depends_on" not in SHUFFLER
    for section, own in (("networks", {"shuffling"}), ("volumes", {"shuffling"})):
        assert set(OWN[section]) == own
        assert not own & set(ANALYSER[section])
    assert SHUFFLER["networks"] == ["shuffling"]
    assert [volume.split(":")[0] for volume in SHUFFLER["volumes"]] == ["shuffling"]
    given = SHUFFLER["environment"]
    assert all(name.startswith("HAZEMAP_SHUFFLER_") for name in given if name != "TMPDIR")
    for name, service in ANALYSER["services"].items():
        assert "shuffling" not in service["networks"]
        assert service.get("user") != SHUFFLER["user"], name


def test_it_is_as_closed_as_the_others():
    others = ANALYSER["services"]["web"]
    for what in ("image", "build", "init", "restart", "read_only", "cap_drop", "security_opt"):
        assert SHUFFLER[what] == others[what], what
    assert re.fullmatch(r"\d{5}:\d{5}", SHUFFLER["user"])
    assert SHUFFLER["memswap_limit"] == SHUFFLER["mem_limit"]  # keys are in no swap
    assert SHUFFLER["healthcheck"]["test"]
    assert SHUFFLER["ports"] == ["127.0.0.1:${HAZEMAP_SHUFFLER_PORT:-8100}:8100"]


def test_what_it_writes_is_on_its_volume_which_is_its_own_in_the_image():
    (mounted,) = (volume.split(":")[1] for volume in SHUFFLER["volumes"])
    assert SHUFFLER["environment"]["HAZEMAP_SHUFFLER_STATE"] == SHUFFLER["environment"]["TMPDIR"] == mounted
    image = (ROOT / ".docker/Dockerfile").read_text()
    user = SHUFFLER["user"].split(":")[0]
    assert f"useradd --uid {user} --user-group" in image
    assert f"install -d -m 700 -o shuffler -g shuffler {mounted}" in image


def test_it_believes_the_proxy_of_this_machine_alone():
    (pool,) = OWN["networks"]["shuffling"]["ipam"]["config"]
    told = compose.with_defaults(SHUFFLER["environment"]["HAZEMAP_SHUFFLER_PROXY"])
    assert told == pool["gateway"]
    assert ip_address(told) in ip_network(pool["subnet"])
    (other,) = ANALYSER["networks"]["outside"]["ipam"]["config"]
    assert not ip_network(pool["subnet"]).overlaps(ip_network(other["subnet"]))


def test_every_variable_of_the_shuffler_is_documented_where_operators_look():
    settings = (ROOT / "heatmaps/shuffler/settings.py").read_text()
    read = set(re.findall(r'"(HAZEMAP_SHUFFLER_\w+)"', settings))
    documents = {
        "heatmaps/shuffler/settings.py": settings,
        "docs/how-to/collections.md": (ROOT / "docs/how-to/collections.md").read_text(),
    }
    for name, text in documents.items():
        assert set(re.findall(r"\| `(HAZEMAP_SHUFFLER_\w+)` \|", text)) == read, name
    assert set(SHUFFLER["environment"]) - {"TMPDIR"} == read


def test_its_head_says_that_one_operator_is_no_shuffler():
    assert "simulated" in HEAD
    assert "TWO operators" in HEAD
