"""Releases, charges and results are never changed once they are paid for: the database itself refuses.

A migration that rebuilds such a table on SQLite drops its triggers and has to create them again, and one that
adds a column to releases names it here or says that it may change; tests/ledger/test_frozen_releases.py fails
when it forgets to.
"""

from heatmaps.migrations.tables_of_2026.append_only import AppendOnly

TABLE = "heatmaps_release"
QUESTION = (
    *("id", "dataset_id", "version_id", "requested_by_id", "requested_at", "mechanism", "mechanism_version"),
    *("epsilon", "delta", "resolution", "parameters", "guarantee", "expected_error", "question"),
    *("guide_release_id", "guide_file_id", "guide_sha256", "since", "until", "rectangle", "covered"),
)
MOVES = (
    *(("reserved", after) for after in ("spent", "cancelled", "failed")),
    *(("spent", after) for after in ("published", "failed")),
)
_WORDS = {
    "question": "what was reserved is never changed",
    "state": "a release never goes back",
    "moments": "the moments of a release that ended are never changed",
    "delete": "releases are never deleted",
}
_DIFFERS = {"sqlite": "OLD.{0} IS NOT NEW.{0}", "postgresql": "OLD.{0} IS DISTINCT FROM NEW.{0}"}
_FUNCTION = """CREATE FUNCTION heatmaps_release_refuses() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$"""


class FrozenReleases:
    """The triggers of `heatmaps_release`."""

    def creating(self, vendor):
        """Statements, for a table without the triggers."""
        differs = _DIFFERS[vendor].format
        rules = {"question": _any(map(differs, QUESTION)), "state": _is_no_move(differs("state"))}
        ended = "OLD.state NOT IN ('reserved', 'spent')"
        rules["moments"] = _any(
            [
                f"({ended} AND {_any(map(differs, ('starts_at', 'visible_at', 'late')))})",
                "NEW.late < OLD.late",
                f"(OLD.state <> 'reserved' AND {differs('expires_at')})",
                f"({differs('finished_at')} AND NOT {differs('state')})",
            ]
        )
        made = [_trigger(vendor, name, f"BEFORE UPDATE ON {TABLE}", rule) for name, rule in rules.items()]
        made.append(_trigger(vendor, "delete", f"BEFORE DELETE ON {TABLE}"))
        if vendor == "sqlite":  # INSERT OR REPLACE deletes without firing the trigger above
            there = f"EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id)"  # noqa: S608 - a constant
            return [*made, _trigger(vendor, "replace", f"BEFORE INSERT ON {TABLE}", there, words="delete")]
        truncate = f"BEFORE TRUNCATE ON {TABLE}"
        return [_FUNCTION, *made, _trigger(vendor, "truncate", truncate, words="delete", each="STATEMENT")]

    def dropping(self, vendor):
        """Statements, for a table that may lack some of them."""
        names = (*_WORDS, "replace" if vendor == "sqlite" else "truncate")
        table = "" if vendor == "sqlite" else f" ON {TABLE}"
        dropped = [f"DROP TRIGGER IF EXISTS release_refuses_{name}{table}" for name in names]
        return [*dropped, *["DROP FUNCTION IF EXISTS heatmaps_release_refuses()"] * (vendor != "sqlite")]


RELEASES = FrozenReleases()
CHARGES = AppendOnly(
    table="heatmaps_charge", name="charge", rows="charges", unique=("release_id", "account_id")
)
RESULTS = AppendOnly(
    table="heatmaps_result",
    name="result",
    rows="results",
    key="release_id",
    unique=("release_id", "release_id"),
)
FROZEN = (RELEASES, CHARGES, RESULTS)


def _any(conditions):
    return f"({' OR '.join(conditions)})"


def _is_no_move(differs):
    moves = _any(f"(OLD.state = '{before}' AND NEW.state = '{after}')" for before, after in MOVES)
    return f"{differs} AND NOT {moves}"


def _trigger(vendor, name, event, condition="", *, words="", each="ROW"):
    said = _WORDS[words or name]
    when = f"WHEN ({condition})" if condition else ""
    if vendor == "sqlite":
        how = f"{when} BEGIN SELECT RAISE(ABORT, '{said}'); END"
    else:
        how = f"FOR EACH {each} {when} EXECUTE FUNCTION heatmaps_release_refuses('{said}')"
    return f"CREATE TRIGGER release_refuses_{name} {event} {how}"
