"""Moments on pages: the reader's own time beside UTC."""

from pathlib import Path

import pytest

from heatmaps.templatetags.numbers import moment

SCRIPT = Path("static/hazemap/local_time.js").read_text()
SHOWN = f"<p>{moment('2026-11-22 20:30')}</p><p>{moment('2026-06-01 00:05:09')}</p>"


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        (
            "Asia/Kolkata",
            [
                "2026-11-22 20:30 UTC (2026-11-23 02:00 local time)",
                "2026-06-01 00:05:09 UTC (05:35 local time)",
            ],
        ),
        (
            "America/New_York",
            [
                "2026-11-22 20:30 UTC (15:30 local time)",
                "2026-06-01 00:05:09 UTC (2026-05-31 20:05 local time)",
            ],
        ),
        ("UTC", ["2026-11-22 20:30 UTC", "2026-06-01 00:05:09 UTC"]),
    ],
)
def test_it_stands_beside_utc(chromium, zone, said):
    context = chromium.new_context(timezone_id=zone)
    page = context.new_page()
    page.set_content(SHOWN)
    page.add_script_tag(content=f'{SCRIPT}\ndocument.body.dataset.ran = "";', type="module")
    page.locator("body[data-ran]").wait_for(state="attached")
    assert page.locator("time").all_inner_texts() == said
    context.close()
