"""Lists the scripts of a released map: on its page one by one, in a file of its own all in one."""

from typing import Final

# In the order of their loading: each needs only what stands before it.
SCRIPTS: Final = (
    "leaflet/leaflet.js",
    "hazemap/motion.js",
    "hazemap/numbers.js",
    "hazemap/dom.js",
    "hazemap/gestures.js",
    "hazemap/whereabouts.js",
    "hazemap/basemap.js",
    "hazemap/names.js",
    "hazemap/signs.js",
    "hazemap/place_list.js",
    "hazemap/place_search.js",
    "hazemap/full_screen.js",
    "hazemap/surface.js",
    "hazemap/density.js",
    "hazemap/view.js",
    "hazemap/heat_colours.js",
    "hazemap/heat_picture.js",
    "hazemap/heat_legend.js",
    "hazemap/readout.js",
    "hazemap/layers_panel.js",
    "hazemap/areas.js",
    "hazemap/marks.js",
    "hazemap/csv.js",
    "hazemap/sortable_table.js",
    "hazemap/area_drawing.js",
    "hazemap/district_files.js",
    "hazemap/sums.js",
    "hazemap/fragment.js",
    "hazemap/permalink.js",
    "hazemap/heat.js",
)
DRAWER: Final = "hazemap/released_map.js"  # behind the data that it draws
COMPARISON_SCRIPTS: Final = (
    *SCRIPTS[:-1],
    "hazemap/difference.js",
    "hazemap/change_colours.js",
    "hazemap/change_legend.js",
    "hazemap/change_lines.js",
    "hazemap/swipe.js",
    "hazemap/compare_views.js",
    "hazemap/compare.js",
)
