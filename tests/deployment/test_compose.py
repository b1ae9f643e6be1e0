"""The compose file and the image: valid by the specification, and as closed as the README says."""

import json
import os
import re
from importlib.resources import files

import jsonschema
import pytest

from tests.services import compose
from tests.services.installation import ROOT

FILE = compose.parsed()
OURS = {"migrate", "web", "worker", "scheduler"}
LINES = (ROOT / ".docker/Dockerfile").read_text().splitlines()


@pytest.fixture(scope="module")
def schema():
    text = files("check_jsonschema").joinpath("builtin_schemas/vendor/compose-spec.json").read_text()
    return jsonschema.Draft202012Validator(json.loads(text))


def test_it_is_valid_by_the_compose_specification(schema):
    assert [error.message for error in schema.iter_errors(FILE)] == []


def test_the_specification_finds_a_misspelt_key(schema):
    services = FILE["services"] | {"web": FILE["services"]["web"] | {"heathcheck": {}}}
    assert list(schema.iter_errors(FILE | {"services": services}))


def test_every_service_of_the_product_and_what_it_needs_is_there():
    assert set(FILE["services"]) == OURS | {"postgres", "redis"}


@pytest.mark.parametrize("name", FILE["services"])
def test_a_service_is_pinned_checked_and_closed(name):
    service = FILE["services"][name]
    assert re.fullmatch(r"[a-z]+:\d+(\.\d+)+(-[a-z]+)?", service["image"])
    assert service["user"] not in {"root", "0", "0:0"}
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.get("privileged")
    assert name == "migrate" or service["healthcheck"]["test"]
    assert (name == "web") == ("ports" in service) == ("outside" in service["networks"])


def test_only_the_inner_network_has_everybody_and_it_has_no_way_out():
    assert FILE["networks"]["inside"] == {"internal": True}
    assert all("inside" in service["networks"] for service in FILE["services"].values())
    assert FILE["services"]["web"]["ports"] == ["127.0.0.1:${HAZEMAP_PORT:-8000}:8000"]


def test_passwords_come_by_files_only():
    for service in FILE["services"].values():
        assert set(service["secrets"]) <= set(FILE["secrets"])
        for name, value in service.get("environment", {}).items():
            assert "PASSWORD" not in name or (name.endswith("_FILE") and value.startswith("/run/secrets/"))
            assert not re.search(r"://[^/@]*:[^/@]+@", value)
    assert {secret["file"] for secret in FILE["secrets"].values()} == {
        ".docker/secrets/postgres_password",
        ".docker/secrets/redis_password",
    }
    assert ".docker/secrets/" in (ROOT / ".gitignore").read_text().splitlines()


def test_web_and_workers_share_uploads_and_keys():
    web, worker = FILE["services"]["web"], FILE["services"]["worker"]
    assert web["volumes"] == worker["volumes"]
    assert web["environment"] == worker["environment"]
    mounted = dict(volume.split(":")[:2] for volume in web["volumes"])
    assert set(mounted.values()) == {
        web["environment"][name] for name in ("HAZEMAP_STATE", "HAZEMAP_KEY_DIR")
    }
    assert set(mounted) < set(FILE["volumes"])


@pytest.mark.parametrize("name", sorted(OURS))
def test_everything_it_writes_is_on_a_volume_or_in_memory(name):
    service = FILE["services"][name]
    writable = [volume.split(":")[1] for volume in service.get("volumes", [])] + service["tmpfs"]
    environment = service["environment"]
    told = [environment[key] for key in ("HAZEMAP_STATE", "HAZEMAP_KEY_DIR", "TMPDIR")]
    if "--schedule" in service["command"]:
        told.append(service["command"][service["command"].index("--schedule") + 1])
    assert name != "scheduler" or len(told) == 4
    for path in told:
        assert any(os.path.commonpath([path, root]) == root for root in writable), path


def test_every_variable_of_the_product_is_documented():
    from heatmaps.config import environment

    given = {name for one in OURS for name in FILE["services"][one]["environment"] if "HAZEMAP" in name}
    assert all(f"| `{name}` |" in environment.__doc__ for name in given)


def test_the_image_is_pinned_locked_and_not_run_by_root():
    froms = [line.split()[1] for line in LINES if line.startswith("FROM")]
    assert froms
    assert all(re.fullmatch(r"python:3\.1[123]\.\d+-slim-[a-z]+", image) for image in froms)
    installs = "\n".join(LINES)
    assert installs.count("pip install") == 1
    assert "--require-hashes -r /build/requirements.lock" in installs
    assert [line for line in LINES if line.startswith("USER")] == ["USER 10001:10001"]


def test_the_image_holds_the_program_and_nothing_else():
    copied = {line.split()[1] for line in LINES if line.startswith("COPY") and "--from" not in line}
    ignore = (ROOT / ".docker/Dockerfile.dockerignore").read_text().splitlines()
    assert ignore[1] == "*"
    assert {line[1:] for line in ignore if line.startswith("!")} == copied
    assert all((ROOT / source).exists() for source in copied)
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert packages <= copied
