"""Lists the product's commands in words, without loading any of them."""

from typing import Final

COMMANDS: Final = {
    "Serve": {
        "serve": "pages and API at http://127.0.0.1:8000 (--port N; --demo makes a demo city first)",
        "createdemo": "make the first accounts and the demo city (--empty: accounts alone)",
        "backup": "save database, keys and credentials in one private file",
        "restore": "put such a file into an empty state folder, and check it",
        "resume": "say what happened to a server that is on hold",
        "import-checkins": "upload files of check-ins into a dataset",
        "removesecondfactor": "let in somebody who lost a second factor",
        "verify-ledger": "recompute every ledger, and name the first bad row",
        "close-ledger": "end a dataset whose ledger was damaged, for good",
        "basemap": "make a file of street tiles from an OpenStreetMap extract",
    },
    "Work on files, without a server": {
        "heatmap": "draw a private heatmap from files of check-ins",
        "centroid": "draw one private central point of everybody in the files",
        "obfuscate": "blur the place of each row by itself",
    },
    "Plan and check": {
        "plan": "find the loss per metre that meets protection goals",
        "calibrate": "find the parameters of a mechanism for a target",
        "audit": "bound a mechanism's loss from below, beside its claim",
        "evaluate": "compare mechanisms on check-ins of your own (the result is not private)",
        "reproduce": "make a table or figure of the papers again",
    },
    "Run a deployment with PostgreSQL and Redis": {
        "migrate": "make or update the tables",
        "grant-roles": "make the database roles of web and workers",
        "worker": "draw and read files (options of `celery worker`)",
        "metrics": "answer a monitor at HAZEMAP_METRICS",
        "clock": "move releases at their public moments",
        "createsuperuser": "make an administrator",
        "shuffler": "the role that mixes devices' reports (`hazemap shuffler help`)",
    },
}

SHUFFLER: Final = {
    "join": "join a collection by the token that its analyser gave",
    "serve": "answer devices, and look after rounds",
    "enrol": "enrol people by names, or by files of names",
    "people": "list the people of a collection",
    "remove": "remove a person",
    "invitations": "write the links of a round, once",
    "status": "list collections and their rounds",
    "migrate": "make or update the tables",
    "resume": "say what a copied or restored state folder is",
}


def shuffler_overview() -> str:
    """What `hazemap shuffler help` says."""
    lines = [
        "The shuffler mixes what devices send, so that its analyser cannot tell whose a report is. It shares",
        "no setting, key or database with `hazemap serve`.",
        "",
        *(f"  {name:<19} {words}" for name, words in SHUFFLER.items()),
        "",
        "`hazemap shuffler help COMMAND` explains one. Its data and keys are in the folder that",
        "HAZEMAP_SHUFFLER_STATE names, else in hazemap-shuffler below $XDG_DATA_HOME (~/.local/share).",
    ]
    return "\n".join(lines) + "\n"


def overview(version: str) -> str:
    """What `hazemap help` says."""
    lines = [f"Hazemap {version} publishes private heatmaps of places.", ""]
    for title, commands in COMMANDS.items():
        lines += [f"{title}:", *(f"  {name:<19} {words}" for name, words in commands.items()), ""]
    lines += [
        "`hazemap help COMMAND` explains one. Data and keys are in the folder that HAZEMAP_STATE names,",
        "else in hazemap below $XDG_DATA_HOME (~/.local/share).",
    ]
    return "\n".join(lines) + "\n"
