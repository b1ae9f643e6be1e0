"""Line charts put points and words where they belong."""

from heatmaps.views import charts
from heatmaps.views.charts import Axis, Line, chart


def test_a_chart_puts_points_where_they_belong():
    line = Line(name="a", points=((1.0, 0.1), (10.0, 1.0), (100.0, 10.0)))
    straight = chart("t", [line], x=Axis(title="x", logarithmic=True), y=Axis(title="y", logarithmic=True))
    (drawn,) = straight.lines
    assert drawn.markers[0] == (f"{charts.LEFT:.1f}", f"{charts.BOTTOM:.1f}")
    assert drawn.markers[2] == (f"{charts.RIGHT:.1f}", f"{charts.TOP:.1f}")
    middle = (f"{(charts.LEFT + charts.RIGHT) / 2:.1f}", f"{(charts.TOP + charts.BOTTOM) / 2:.1f}")
    assert drawn.markers[1] == middle
    assert [tick.text for tick in straight.y_ticks] == ["0.1", "0.2", "0.5", "1", "2", "5", "10"]
    plain = chart("t", [line], x=Axis(title="x"), y=Axis(title="y", from_zero=True))
    assert [tick.text for tick in plain.y_ticks] == ["0", "2", "4", "6", "8", "10"]
    assert plain.y_ticks[0].at == f"{charts.BOTTOM:.1f}"


def test_names_of_ticks_do_not_run_into_each_other():
    line = Line(name="a", points=((0.02, 1.0), (0.05, 2.0), (0.75, 3.0)))
    drawn = chart("t", [line], x=Axis(title="x"), y=Axis(title="y"))
    assert [tick.text for tick in drawn.x_ticks] == ["0.02", "0.75"]
