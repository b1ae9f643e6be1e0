"""In a container the record of draws must outlive it."""

from pathlib import Path

import pytest

from heatmaps.record import place

FOLDER = Path("/var/lib/hazemap/record")
ROOT = "22 1 0:40 / / rw,relatime - overlay overlay rw,lowerdir=/a"
VOLUME = "30 22 8:1 /volumes/record/_data /var/lib/hazemap/record rw - ext4 /dev/sda1 rw"
MEMORY = "31 22 0:50 / /var/lib/hazemap rw - tmpfs tmpfs rw"


@pytest.mark.parametrize("mounts", [[ROOT], [ROOT, MEMORY], [ROOT, VOLUME.replace("record", "records")]])
def test_a_folder_that_ends_with_its_container_is_refused(mounts):
    with pytest.raises(place.RecordError, match="mount a volume at /var/lib/hazemap/record"):
        place.check_outlives(FOLDER, "\n".join(mounts))


@pytest.mark.parametrize("mounts", [[ROOT, VOLUME], [ROOT, MEMORY, VOLUME]])
def test_a_volume_is_taken(mounts):
    place.check_outlives(FOLDER, "\n".join(mounts))


def test_a_worker_in_such_a_container_ends_before_it_takes_work(settings):
    from heatmaps.config import celery

    settings.IN_CONTAINER, settings.RECORD_DIR = True, Path("/nowhere/record")
    with pytest.raises(SystemExit, match="mount a volume"):
        celery.check_record()
