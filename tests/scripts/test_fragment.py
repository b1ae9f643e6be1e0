"""A map's view as the fragment of an address (static/hazemap/fragment.js): there and back, and refusals."""

import pytest

from tests.scripts.node import evaluated

RING = [[-97.75, 30.25], [-97.7, 30.25], [-97.70001, 30.30003], [-97.75, 30.25]]
HOLE = [[-97.74, 30.26], [-97.73, 30.26], [-97.735, 30.27], [-97.74, 30.26]]
VIEW = {
    "lat": 30.26715,
    "lon": -97.74306,
    "zoom": 11.25,
    "chosen": {"layer": "sure", "palette": "Sea", "width": 1234.5, "opacity": 0.75},
    "areas": [
        {"name": 'Süd, "a"; b & <c>=d\'~.', "polygons": [[RING, HOLE], [RING]]},
        {"name": "", "polygons": [[[[179.5, -90], [540 - 180, -90], [180, 90], [179.5, -90]]]]},
    ],
}
SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=&,;.~%'"
AREA = "areas=Box,gqjGg0mMg0mMg0mMA_zmM"


def run(expression, given):
    return evaluated(["fragment.js"], expression, given)


def test_it_is_read_as_it_was_written_and_needs_no_escaping():
    text, back = run(
        "(() => { const text = fragment.write(given); return [text, fragment.read(text)]; })()",
        VIEW,
    )
    assert back == VIEW
    assert set(text) <= set(SAFE)
    assert text.startswith(
        "map=30.26715,-97.74306,11.25&layer=sure&palette=Sea&width=1234.5&opacity=0.75&areas="
    )
    assert len(text) < 260


def test_what_is_too_long_for_an_address_is_not_written():
    corners = [[at / 1000, (at * 7919 % 1000) / 20] for at in range(3_000)]
    long = {"name": "coast", "polygons": [[[*corners, corners[0]]]]}
    short = {"name": "box", "polygons": [[RING]]}
    expression = "given.map((areas) => fragment.write({ lat: 0, lon: 0, zoom: 1, chosen: {}, areas }))"
    assert run(expression, [[long], [short] * 51]) == [None, None]


@pytest.mark.parametrize("size", [80, 81])
def test_long_and_broken_names_are_cut_at_whole_characters(size):
    area = {"name": "\ud83d\ude00" * size + "\ud800", "polygons": [[RING]]}
    [name] = run(
        "fragment.read(fragment.write({ lat: 0, lon: 0, zoom: 1, chosen: {}, areas: [given] }))"
        ".areas.map(({ name }) => name)",
        area,
    )
    assert name == "\U0001f600" * 80


def test_nothing_else_is_read():
    good = f"map=30.2,-97.7,11&layer=sure&{AREA}"
    bad = [
        *(
            "map=",
            "map=1,2",
            "map=1,2,3,4",
            "map=91,0,1",
            "map=0,361,1",
            "map=0,0,1e3",
            "map=NaN,0,1",
            "map=a,b,c",
        ),
        *("map=0,0,1&layer", "map=0,0,1&layer=", "map=0,0,1&layer=sure&layer=heat", "map=0,0,1&map=0,0,1"),
        *(
            "map=0,0,1&layer=<b>",
            "map=0,0,1&__proto__=x=y",
            "map=0,0,1&width=-1",
            "map=0,0,1&width=Infinity1",
        ),
        *("map=0,0,1&a%20b=c", "map=0,0,1&&", "layer=sure&map=0,0,1", f"map=0,0,1&{'a' * 6000}=b"),
        *("map=0,0,1&areas=Box", "map=0,0,1&areas=Box,", "map=0,0,1&areas=Box,A", "map=0,0,1&areas=Box,ggg"),
        *(
            "map=0,0,1&areas=%E0%A4%A,AAAAAA",
            f"map=0,0,1&areas={'n' * 81},AAAAAA",
            "map=0,0,1&areas=B,AA!AAA",
        ),
        *(
            "map=0,0,1&areas=B,AAAAAA,AAAAAA",
            "map=0,0,1&areas=B,AA-----CAAA",
            "map=0,0,1&areas=B,AA__________BAA",
        ),
        f"map=0,0,1&areas={';'.join(['B,AAAAAA'] * 51)}",
    ]
    read = (
        "given.map((text) => { try { return fragment.read(text); } catch (error) { return error.message; } })"
    )
    fine, *refused = run(read, [good, *bad])
    assert fine["chosen"] == {"layer": "sure"}
    assert [len(area["polygons"][0][0]) for area in fine["areas"]] == [4]
    odd = [text for text, told in zip(bad, refused, strict=True) if not isinstance(told, str)]
    assert odd == []
    assert all(told.startswith(("it ", "its ", "one of its ", "the name ")) for told in refused), refused


def test_other_fragments_of_a_page_are_left_alone():
    assert run("given.map(fragment.isView)", ["content", "", "map", "map=1"]) == [
        False,
        False,
        False,
        True,
    ]
