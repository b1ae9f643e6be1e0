"""The compose files as data, and their texts as they read outside of containers."""

import re

import yaml

from tests.services.installation import ROOT

# What Compose and its networks make of a text, as far as it does not depend on folders and ports.
ON_LOOPBACK = {
    "$$": "$",
    "@postgres:": "@127.0.0.1:",
    "@redis:": "@127.0.0.1:",
    "0.0.0.0": "127.0.0.1",
}
PARTS = ("services", "networks", "volumes", "secrets", "configs")


COLLECTIONS = "docker-compose.collections.yml"


def parsed(name="docker-compose.yml", *, with_included=True):
    """The whole file, anchors and merges resolved, variables as they are written."""
    file = yaml.safe_load((ROOT / name).read_text())
    if with_included:
        for included in map(parsed, file.pop("include", [])):
            for section, found in included.items():
                if section in PARTS:
                    assert not set(found) & set(file.get(section, {})), "Compose refuses a name twice"
                    file[section] = found | file.get(section, {})
    return file


def without_profiles(file):
    """What starts where no profile is asked for."""
    return {name: service for name, service in file["services"].items() if "profiles" not in service}


def in_order(file):
    """Names of all services, each after those it depends on."""
    ordered = []

    def add(name):
        for needed in file["services"][name].get("depends_on", {}):
            add(needed)
        if name not in ordered:
            ordered.append(name)

    for name in file["services"]:
        add(name)
    return ordered


def with_defaults(text, **given):
    """The text as it reads when no variable but those given is set: every one has a default, or stands for
    nothing."""

    def value(match):
        name, kind, other = match.groups()
        is_set = bool(given.get(name))
        return (other if is_set else "") if kind == "+" else (given[name] if is_set else other)

    while (once := re.sub(r"\$\{(\w+):([-+])([^${}]*)\}", value, text)) != text:
        text = once
    return text


def redis_users():
    """Lines of Redis's configuration: users of the compose file, with passwords as `Redis.as_user` says."""
    lines = parsed()["configs"]["redis_users"]["content"].splitlines()
    users = [f"user {name} on >{name}-word {rights}" for name, _, rights in (x.partition(" ") for x in lines)]
    return "\n".join(["user default off", *users, ""])


def replaced(text, table):
    """Each word of the table where it stands in the text; what was put in is not looked at again."""
    done, at = "", 0
    while at < len(text):
        found = next((word for word in table if text.startswith(word, at)), None)
        done += text[at] if found is None else table[found]
        at += 1 if found is None else len(found)
    return done
