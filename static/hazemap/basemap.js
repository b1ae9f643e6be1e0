// What a map shows without any tile: a graticule that follows the zoom, the region's border, place names.
// A classic script, not a module: folium's inline script uses it right after it has loaded.
window.hazemap = (() => {
  "use strict";

  const STEPS = [90, 45, 30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];
  const LINES_WANTED = 4;
  const NAME_HEIGHT = 30; // pixels, with some air
  const NAME_WIDTH_PER_LETTER = 7;

  // Draws everything that does not move, and keeps graticule and names in step with the view.
  function basemap(map, { region, places, attribution }) {
    addPane(map, "graticule", 410);
    addPane(map, "names", 620);
    L.control.attribution({ prefix: false }).addAttribution(attribution).addTo(map);
    if (region) border(map, region);
    const names = nameLayer(map);
    names.show(places);
    namesButton(map, names);
    followView(map, () => names.declutter());
    return names;
  }

  function border(map, [west, south, east, north]) {
    return L.rectangle([[south, west], [north, east]], {
      className: "region-border", fill: false, interactive: false, pane: "graticule",
    }).addTo(map);
  }

  // A released point and the circle that the truth is in, by a polygon's corners.
  function point(map, { lat, lon, circle }) {
    addPane(map, "released", 610);
    L.polygon(circle, { className: "error-circle", interactive: false, pane: "released", smoothFactor: 0 })
      .addTo(map);
    L.circleMarker([lat, lon], { className: "released-point", radius: 7, interactive: false, pane: "released" })
      .addTo(map);
  }

  // Centres of areas, each with its number and share beside it.
  function centres(map, found) {
    addPane(map, "released", 610);
    for (const { lat, lon, text } of found) {
      L.circleMarker([lat, lon], { className: "released-point", radius: 6, interactive: false, pane: "released" })
        .addTo(map);
      textMarker([lat, lon], text, "centre-name", "released").addTo(map);
    }
  }

  // Rings of a release: zones in the classes of its legend, or circles around places, each with its sign.
  function rings(map, found) {
    addPane(map, "zones", 410);
    addPane(map, "released", 610);
    for (const { ring, key, text, middle } of found) {
      L.polygon(ring, { className: `zone ${key}`, interactive: false, pane: "zones", smoothFactor: 0 }).addTo(map);
      textMarker(middle, text, "zone-name", "released").addTo(map);
    }
  }

  function followView(map, alsoRun) {
    const lines = L.layerGroup().addTo(map);
    const redraw = () => {
      drawGraticule(map, lines);
      alsoRun();
    };
    map.on("moveend resize", redraw);
    map.whenReady(redraw);
  }

  function drawGraticule(map, lines) {
    lines.clearLayers();
    const view = map.getBounds();
    const step = niceStep(view.getEast() - view.getWest());
    for (const lon of multiples(view.getWest(), view.getEast(), step)) {
      lines.addLayer(line([[-85.05, lon], [85.05, lon]]));
      lines.addLayer(label([view.getSouth(), lon], degrees(lon, "E", "W"), "graticule-lon"));
    }
    for (const lat of multiples(Math.max(view.getSouth(), -85), Math.min(view.getNorth(), 85), step)) {
      lines.addLayer(line([[lat, view.getWest() - 360], [lat, view.getEast() + 360]]));
      lines.addLayer(label([lat, view.getWest()], degrees(lat, "N", "S"), "graticule-lat"));
    }
  }

  function niceStep(extent) {
    return STEPS.find((step) => extent / step >= LINES_WANTED) ?? STEPS[STEPS.length - 1];
  }

  function multiples(low, high, step) {
    const found = [];
    for (let index = Math.ceil(low / step); index * step <= high; index += 1) {
      found.push(Number((index * step).toFixed(6)));
    }
    return found.slice(0, 40);
  }

  function degrees(value, positive, negative) {
    const wrapped = positive === "E" ? ((value + 540) % 360) - 180 : value;
    const number = Number(Math.abs(wrapped).toFixed(4));
    return `${number}°${number === 0 ? "" : wrapped > 0 ? positive : negative}`;
  }

  function line(points) {
    return L.polyline(points, { className: "graticule-line", interactive: false, pane: "graticule" });
  }

  function label(point, text, className) {
    return textMarker(point, text, `graticule-label ${className}`, "graticule");
  }

  function nameLayer(map) {
    const layer = L.layerGroup().addTo(map);
    let known = [];
    const declutter = () => {
      layer.clearLayers();
      const taken = [];
      for (const place of known) {
        const at = map.latLngToContainerPoint([place.lat, place.lon]);
        const width = place.name.length * NAME_WIDTH_PER_LETTER + 14;
        const box = [at.x - 6, at.y - NAME_HEIGHT / 2, at.x + width, at.y + NAME_HEIGHT / 2];
        if (taken.some((other) => overlap(box, other))) continue;
        taken.push(box);
        layer.addLayer(textMarker([place.lat, place.lon], place.name, "place-name", "names"));
      }
    };
    return {
      declutter,
      setVisible(visible) {
        visible ? layer.addTo(map) : layer.remove();
      },
      show(places) {
        known = places;
        if (map._loaded) declutter();
      },
    };
  }

  // Names stand on top of the cells: whoever wants to see those in full takes the names away.
  function namesButton(map, names) {
    const control = L.control({ position: "topright" });
    control.onAdd = () => {
      const bar = L.DomUtil.create("div", "leaflet-bar");
      const button = L.DomUtil.create("button", "", bar);
      button.type = "button";
      button.textContent = "Names";
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", () => {
        const visible = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(visible));
        names.setVisible(visible);
      });
      L.DomEvent.disableClickPropagation(bar);
      return bar;
    };
    control.addTo(map);
  }

  function overlap(one, other) {
    return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
  }

  // Text goes in as text: no name is ever read as HTML.
  function textMarker(point, text, className, pane) {
    const element = document.createElement("span");
    element.textContent = text;
    return L.marker(point, {
      icon: L.divIcon({ className, html: element, iconSize: null }),
      interactive: false, keyboard: false, pane,
    });
  }

  function addPane(map, name, zIndex) {
    const pane = map.createPane(name);
    pane.style.zIndex = zIndex;
    pane.classList.add("pane-through");
  }

  return { basemap, border, centres, point, rings, textMarker };
})();
