"""Moves check-ins from the table where each names its upload to the one where it bears a number, and back.

Block by block in the order of their keys, which they keep: the highest one in the new table says how far it
is, so whoever is stopped goes on from there. Memory is that of a few numbers.
"""

from django.db import transaction

NAMED, NUMBERED = "heatmaps_checkin", "heatmaps_numberedcheckin"
BLOCK = 100_000  # keys in one transaction
TOLD = 10_000_000  # keys between two words to whoever waits

_COLUMNS = "id, person, person_rest, cell, time, outside"
_OF_BLOCK = f"""SELECT upload_id, lowest, highest
    FROM (
        SELECT upload_id, min(id) AS lowest, max(id) AS highest
        FROM {NAMED} WHERE id BETWEEN %s AND %s GROUP BY upload_id
    ) AS block JOIN heatmaps_upload ON heatmaps_upload.id = upload_id ORDER BY lowest"""  # noqa: S608 - constants
_FORWARDS = f"""INSERT INTO {NUMBERED} ({_COLUMNS}, extent_id)
    SELECT {", ".join(f"named.{name}" for name in _COLUMNS.split(", "))}, extent.id
    FROM {NAMED} named JOIN heatmaps_extent extent ON extent.upload_id = named.upload_id
    WHERE named.id BETWEEN %s AND %s ORDER BY named.id"""  # noqa: S608 - constants
_BACKWARDS = f"""INSERT INTO {NAMED} ({_COLUMNS}, upload_id)
    SELECT {", ".join(f"numbered.{name}" for name in _COLUMNS.split(", "))}, extent.upload_id
    FROM {NUMBERED} numbered JOIN heatmaps_extent extent ON extent.id = numbered.extent_id
    WHERE numbered.id BETWEEN %s AND %s ORDER BY numbered.id"""  # noqa: S608 - constants


def forwards(apps, schema_editor):
    """Moves what is not there yet. An upload gets one extent, which others' rows may lie in."""
    _move(schema_editor, NAMED, NUMBERED, _FORWARDS, lambda *keys: _extend(apps, schema_editor, *keys))


def backwards(_apps, schema_editor):
    _move(schema_editor, NUMBERED, NAMED, _BACKWARDS, lambda *_keys: None)


def is_whole(schema_editor):
    """Tells whether either table has the rows that the other one has, of uploads that there are."""
    uploads = "EXISTS (SELECT 1 FROM heatmaps_upload WHERE heatmaps_upload.id = upload_id)"
    same = f"EXISTS (SELECT 1 FROM {NAMED} WHERE {NAMED}.id = {NUMBERED}.id)"  # noqa: S608 - constants
    [named] = _row(schema_editor, f"SELECT count(*) FROM {NAMED} WHERE {uploads}")  # noqa: S608 - constants
    [numbered] = _row(schema_editor, f"SELECT count(*) FROM {NUMBERED}")  # noqa: S608 - a constant
    # As many may have come late, with keys that were passed by, as went: blocks are of one size.
    return named == numbered and not any(
        _row(schema_editor, f"SELECT count(*) FROM {NUMBERED} WHERE NOT {same}")  # noqa: S608 - constants
    )


def _move(schema_editor, source, target, insert, prepare):
    [last] = _row(schema_editor, f"SELECT coalesce(max(id), 0) FROM {source}")  # noqa: S608 - constants
    [at] = _row(schema_editor, f"SELECT coalesce(max(id), 0) FROM {target}")  # noqa: S608 - constants
    told = at
    while at < last:
        # Keys may have gaps of any size.
        [first] = _row(schema_editor, f"SELECT min(id) FROM {source} WHERE id > %s", at)  # noqa: S608
        at = first + BLOCK - 1
        with transaction.atomic(using=schema_editor.connection.alias):
            prepare(first, at)
            _execute(schema_editor, insert, first, at)
        if at - told >= TOLD:
            told = at
            share = f"{min(at, last) / last:.0%} of the check-ins have moved"
            print(f"\n    {share}", end="", flush=True)  # noqa: T201 - to who migrates, as Django does
    if schema_editor.connection.vendor == "postgresql":
        sequence = f"pg_get_serial_sequence('{target}', 'id')"
        _row(schema_editor, f"SELECT setval({sequence}, greatest(%s, nextval({sequence})))", last)
        _execute(schema_editor, f"ANALYZE {target}")


def _extend(apps, schema_editor, first, last):
    """Makes or extends the extents of the uploads of a block; rows of no upload, read by nobody, stay."""
    extents = apps.get_model("heatmaps", "Extent").objects
    convert = apps.get_model("heatmaps", "Upload")._meta.pk.to_python
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(_OF_BLOCK, [first, last])
        rows = cursor.fetchall()
    for name, lowest, highest in rows:
        upload = convert(name)
        if not extents.filter(upload=upload).update(last=highest):
            extents.create(upload_id=upload, first=lowest, last=highest)


def _row(schema_editor, statement, *values):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()


def _execute(schema_editor, statement, *values):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(statement, values)
