"""The database itself refuses to change or delete events."""

import pytest
from django.db import DatabaseError, connection, transaction

from heatmaps.models import Event

STATEMENTS = {
    "update": "UPDATE heatmaps_event SET kind = 'x'",
    "update of nothing but itself": "UPDATE heatmaps_event SET hash = hash",
    "delete": "DELETE FROM heatmaps_event",
    "replace": "INSERT OR REPLACE INTO heatmaps_event SELECT * FROM heatmaps_event",
    "truncate": "TRUNCATE heatmaps_event",
}
ELSEWHERE = {"sqlite": {"truncate"}, "postgresql": {"replace"}}


@pytest.mark.parametrize("name", STATEMENTS)
def test_it_refuses(dataset, name):
    if name in ELSEWHERE[connection.vendor]:
        pytest.skip(f"{connection.vendor} has no such statement")
    before = list(Event.objects.values())
    connection.check_constraints()  # done with now, or PostgreSQL refuses TRUNCATE for another reason
    with (
        pytest.raises(DatabaseError, match="never changed or deleted"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(STATEMENTS[name])
    assert list(Event.objects.values()) == before


def test_it_refuses_through_djangos_models_too(dataset):
    event = dataset.events.first()
    event.kind = "x"
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        event.save()
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        event.delete()
