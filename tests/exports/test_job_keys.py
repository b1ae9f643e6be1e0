"""Files are kept and asked about by a key: whatever a file is made from makes another one."""

from dataclasses import fields, replace

from heatmaps.exports.job import Job

MADE = Job(
    wanted="csv",
    kind="heatmap",
    stem="city-2024-01-01-laplace",
    result_sha256="0" * 64,
    title="City",
    mechanism="laplace",
    parameters={},
    guarantee={},
    region=[0.0, 0.0, 1.0, 1.0],
    whole_region=[0.0, 0.0, 1.0, 1.0],
    released="2024-01-01",
    radius_m=None,
    data_slice=[None, None, None],
)


def test_every_part_of_a_job_is_in_its_key():
    keys = [replace(MADE, **{part.name: "other"}).key("1") for part in fields(Job)]
    assert len({MADE.key("1"), MADE.key("2"), *keys}) == len(fields(Job)) + 2


def test_a_digest_counts_to_its_last_digit():
    assert replace(MADE, result_sha256="0" * 63 + "1").key("1") != MADE.key("1")
