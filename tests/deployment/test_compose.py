"""The compose file and the image: valid by the specification, and as closed as the README says."""

import itertools
import json
import os
import re
from importlib.resources import files
from ipaddress import ip_address, ip_network

import jsonschema
import pytest

from heatmaps.models.dataset import RowCapacity
from tests.services import compose
from tests.services.installation import ROOT

FILE = compose.parsed()
USERS = ("web", "draws", "files", "lakes", "surveys", "clock", "metrics")  # of Redis
OURS = {"migrate", "web", "worker", "reader", "scheduler", "lakes", "surveys"}
FOREIGN = {"postgres", "redis", "spark"}
DIGEST = "(@sha256:[0-9a-f]{64})?"  # where `make lock` reached a registry
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
    assert set(FILE["services"]) == OURS | FOREIGN
    assert set(compose.without_profiles(FILE)) == (OURS | FOREIGN) - {"lakes", "surveys", "spark"}


@pytest.mark.parametrize("name", FILE["services"])
def test_a_service_is_pinned_checked_and_closed(name):
    service = FILE["services"][name]
    assert re.fullmatch(r"[a-z-]+:\d+(\.\d+)+(-[a-z0-9.]+)*" + DIGEST, service["image"])
    assert service["user"] not in {"root", "0", "0:0"}
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.get("privileged")
    assert name == "migrate" or service["healthcheck"]["test"]
    assert (name == "web") == ("ports" in service) == ("outside" in service["networks"])


def in_bytes(text):
    """Of a size as Compose, PostgreSQL and Redis write it."""
    number, unit = re.fullmatch(r"(\d+)([mg])b?", text.lower()).groups()
    return int(number) * {"m": 2**20, "g": 2**30}[unit]


@pytest.mark.parametrize("name", FILE["services"])
def test_a_service_takes_no_more_memory_than_it_may(name):
    """Swap included: memory that is swapped slows everybody."""
    service = FILE["services"][name]
    assert 256 * 2**20 <= in_bytes(service["mem_limit"]) <= 7 * 2**30
    assert service["memswap_limit"] == service["mem_limit"]


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_service_starts_no_more_threads_than_it_may(name):
    assert FILE["services"][name]["pids_limit"] == 1024


def test_memory_limits_hold_what_each_service_is_told_to_keep():
    from heatmaps.masses import postgresql

    limits = {
        name: in_bytes(service["mem_limit"]) for name, service in compose.without_profiles(FILE).items()
    }
    assert sum(limits.values()) == 16.5 * 2**30  # as the head of the file says
    worker = FILE["services"]["worker"]["command"]
    places = FILE["services"]["scheduler"]["environment"]["HAZEMAP_DRAW_PLACES"]
    places = [int(each) for each in compose.with_defaults(places).split(",")]
    assert int(worker[worker.index("--concurrency") + 1]) == sum(places)
    rows = [min(capacity, postgresql.ROWS_AT_ONCE) for capacity in RowCapacity.values]
    read = sum(each * count * 135 for each, count in zip(places, rows, strict=True))  # bytes
    assert read + sum(places) * 8 * 2**27 < limits["worker"]  # eight arrays of the largest map each
    buffers = next(part for part in FILE["services"]["postgres"]["command"] if "shared_buffers" in part)
    assert in_bytes(buffers.split("=")[1]) <= limits["postgres"] // 4
    redis = " ".join(FILE["services"]["redis"]["command"])
    assert in_bytes(re.search(r"--maxmemory (\w+)", redis)[1]) <= limits["redis"] // 2
    assert "--maxmemory-policy noeviction" in redis


def test_only_the_inner_network_has_everybody_and_it_has_no_way_out():
    assert FILE["networks"]["inside"] == {"internal": True}
    assert all("inside" in service["networks"] for service in FILE["services"].values())
    assert FILE["services"]["web"]["ports"] == ["127.0.0.1:${HAZEMAP_PORT:-8000}:8000"]


def test_it_believes_the_proxy_of_this_machine_alone_and_only_where_there_is_an_origin():
    """By the gateway, the only address of that network besides the web server's, everybody here comes in."""
    assert all(FILE["services"][name]["networks"] == ["inside"] for name in FILE["services"] if name != "web")
    (pool,) = FILE["networks"]["outside"]["ipam"]["config"]
    text = FILE["services"]["web"]["environment"]["HAZEMAP_PROXY"]
    assert compose.with_defaults(text) == ""
    assert compose.with_defaults(text, HAZEMAP_PROXY="none") == "none"
    told = compose.with_defaults(text, HAZEMAP_ORIGINS="https://maps.example.org")
    assert told == pool["gateway"]
    assert ip_address(told) in ip_network(pool["subnet"])


def test_passwords_come_by_files_only():
    for service in FILE["services"].values():
        assert set(service["secrets"]) <= set(FILE["secrets"])
        for name, value in service.get("environment", {}).items():
            assert "PASSWORD" not in name or (name.endswith("_FILE") and value.startswith("/run/secrets/"))
            assert not re.search(r"://[^/@]*:[^/@]+@", value)
    owners = ("superuser", "postgres", "web", "worker", "clock")
    passwords = [f"{name}_password" for name in (*owners, *map("redis_{}".format, USERS))]
    assert {secret["file"] for secret in FILE["secrets"].values()} == {
        f".docker/secrets/{name}" for name in (*passwords, "spark_token", "spark_secret")
    }
    assert ".docker/secrets/" in (ROOT / ".gitignore").read_text().splitlines()


def without_sign_in(service):
    own = ("DATABASE", "BROKER", "HEARTBEAT")
    return {
        name: value for name, value in service["environment"].items() if not any(word in name for word in own)
    }


def test_each_service_signs_in_to_redis_as_a_user_of_its_own():
    user = {"web": "web", "worker": "draws", "reader": "files", "scheduler": "clock"}
    user |= {"lakes": "lakes", "surveys": "surveys"}
    for name, of in user.items():
        environment = FILE["services"][name]["environment"]
        assert environment["HAZEMAP_BROKER_URL"] == f"redis://{of}@redis:6379/0"
        assert environment["HAZEMAP_BROKER_PASSWORD_FILE"] == f"/run/secrets/redis_{of}_password"
        held = {secret for secret in FILE["services"][name]["secrets"] if secret.startswith("redis_")}
        assert held == {f"redis_{of}_password"}
    assert not any("redis" in str(part) for part in FILE["services"]["migrate"].values())
    assert FILE["services"]["redis"]["secrets"] == [f"redis_{each}_password" for each in USERS]
    assert [line.split()[0] for line in FILE["configs"]["redis_users"]["content"].splitlines()] == list(USERS)


@pytest.mark.parametrize("name", ["worker", "reader", "lakes", "surveys"])
def test_a_worker_is_watched_by_the_file_that_it_touches(name):
    service = FILE["services"][name]
    file = service["environment"]["HAZEMAP_HEARTBEAT_FILE"]
    assert service["healthcheck"]["test"] == ["CMD-SHELL", f"find {file} -mmin -1 | grep -q ."]


def test_nobody_but_migrations_signs_in_as_the_owner_of_the_tables():
    role = {
        "migrate": "hazemap",
        "web": "hazemap_web",
        "worker": "hazemap_worker",
        "reader": "hazemap_worker",
        "scheduler": "hazemap_clock",
        "lakes": "hazemap_worker",
        "surveys": "hazemap_worker",
    }
    file = {
        "hazemap": "postgres_password",
        "hazemap_web": "web_password",
        "hazemap_worker": "worker_password",
        "hazemap_clock": "clock_password",
    }
    for name in OURS:
        service = FILE["services"][name]
        environment = service["environment"]
        assert environment["HAZEMAP_DATABASE_URL"] == f"postgresql://{role[name]}@postgres:5432/hazemap"
        assert environment["HAZEMAP_DATABASE_PASSWORD_FILE"] == f"/run/secrets/{file[role[name]]}"
        held = {secret for secret in service["secrets"] if not secret.startswith(("redis_", "spark_"))}
        assert held == (set(file.values()) if name == "migrate" else {file[role[name]]})
    holders = {name for name, each in FILE["services"].items() if "superuser_password" in each["secrets"]}
    assert holders == {"postgres"}
    assert FILE["services"]["postgres"]["environment"]["POSTGRES_USER"] not in role.values()
    assert "migrate --no-input && python manage.py grant-roles" in FILE["services"]["migrate"]["command"][-1]


# Services of one trust: what one of them may do, the other may.
TRUST = {"lakes": "lakes", "surveys": "lakes"}
SHARED = {"keys", "record"}  # written by several; docs/explanation/threat-model.md says what that means


def mounts(name):
    """{volume: (path, whether it may be written)}; folders of the machine are read alone."""
    found = {}
    for text in FILE["services"][name].get("volumes", []):
        volume, path, *how = text.rsplit(":", 2) if text.endswith(":ro") else text.split(":")
        assert volume in FILE["volumes"] or how == ["ro"]
        found[volume] = path, how != ["ro"]
    return found


def test_no_services_of_different_trust_write_into_one_volume_but_those_that_are_named():
    """`migrate` ends before the others start."""
    names = [name for name in FILE["services"] if name != "migrate"]
    for one, other in itertools.combinations(names, 2):
        if TRUST.get(one, one) != TRUST.get(other, other):
            both = mounts(one).items() & mounts(other).items()
            assert {volume for volume, (_, is_written) in both if is_written} <= SHARED, (one, other)
    for volume in FILE["volumes"]:
        paths = {mounts(name)[volume][0] for name in names if volume in mounts(name)}
        assert len(paths) == 1, volume


def test_who_serves_pages_alone_writes_where_they_are_kept():
    """And whatever it hands to others, or gets from them, has one writer."""
    writers = {
        volume: {name for name in OURS - {"migrate"} if mounts(name).get(volume, ("", False))[1]}
        for volume in ("state", "uploads", "rejected")
    }
    assert writers == {"state": {"web"}, "uploads": {"web"}, "rejected": {"reader"}}
    readers = {volume: {name for name in OURS - {"migrate"} if volume in mounts(name)} for volume in writers}
    assert readers == {
        "state": {"web"},
        "uploads": {"web", "worker", "reader"},
        "rejected": {"web", "reader"},
    }


def test_every_service_has_the_folders_that_it_is_told_of():
    for name in OURS - {"scheduler"}:
        environment, paths = (
            FILE["services"][name]["environment"],
            [path for path, _ in mounts(name).values()],
        )
        for variable in ("HAZEMAP_STATE", "HAZEMAP_KEY_DIR", "HAZEMAP_RECORD_DIR"):
            assert environment[variable] in paths, name
    web, worker = (without_sign_in(FILE["services"][name]) for name in ("web", "worker"))
    assert web | {"HAZEMAP_WEB_KEY_DIR": "none"} == worker
    [made] = [line for line in LINES if "/var/lib/hazemap/uploads" in line]
    assert "/var/lib/hazemap/rejected" in made  # a new volume takes the owner of the image's folder


def test_web_and_migrations_alone_have_webs_keys():
    for name in OURS:
        service = FILE["services"][name]
        folder = service["environment"]["HAZEMAP_WEB_KEY_DIR"]
        mounts = [volume for volume in service.get("volumes", []) if "web-keys" in volume]
        if name in {"migrate", "web"}:
            assert mounts == [f"web-keys:{folder}"]
        else:
            assert (folder, mounts) == ("none", [])
    assert "volumes" not in FILE["services"]["scheduler"]
    made = next(
        line for line in "\n".join(LINES).replace("\\\n", " ").splitlines() if "install -d -m 700" in line
    )
    assert {"/var/lib/hazemap/keys", "/var/lib/hazemap/web-keys"} <= set(made.split())


@pytest.mark.parametrize("name", sorted(OURS))
def test_everything_it_writes_is_on_a_volume_or_in_memory(name):
    service = FILE["services"][name]
    writable = [volume.split(":")[1] for volume in service.get("volumes", [])] + service["tmpfs"]
    environment = service["environment"]
    told = [environment[key] for key in ("HAZEMAP_STATE", "HAZEMAP_KEY_DIR", "TMPDIR")]
    for path in told:
        assert any(os.path.commonpath([path, root]) == root for root in writable), path


def test_every_variable_of_the_product_is_documented():
    from heatmaps.config import environment

    given = {name for one in OURS for name in FILE["services"][one]["environment"] if "HAZEMAP" in name}
    assert all(f"| `{name}` |" in environment.__doc__ for name in given)


def test_the_image_is_pinned_locked_and_not_run_by_root():
    froms = [line.split() for line in LINES if line.startswith("FROM")]
    stages = {words[3] for words in froms if len(words) > 3}
    images = [words[1] for words in froms if words[1] not in stages]
    assert images
    assert all(re.fullmatch(r"python:3\.1[123]\.\d+-slim-[a-z]+" + DIGEST, image) for image in images)
    installs = "\n".join(LINES)
    # Spark's client is handed out as source alone.
    hashed = re.findall(r"--only-binary :all:(?: --no-binary pyspark-client)? --require-hashes -r ", installs)
    assert installs.count("pip install") == len(hashed) == 4
    assert installs.count("--no-binary") == 1
    assert "--require-hashes -r /build/requirements.lock" in installs
    assert "npm ci --ignore-scripts" in installs
    assert [line for line in LINES if line.startswith("USER")] == ["USER 10001:10001"]


def test_the_image_holds_the_program_and_nothing_else():
    copied = {line.split()[1] for line in LINES if line.startswith("COPY") and "--from" not in line}
    ignore = (ROOT / ".docker/Dockerfile.dockerignore").read_text().splitlines()
    assert ignore[1] == "*"
    assert {line[1:] for line in ignore if line.startswith("!")} == copied
    assert all((ROOT / source).exists() for source in copied)
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert packages <= copied
