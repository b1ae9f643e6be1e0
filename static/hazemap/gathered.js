// Zones or places of a form, drawn on its map while they are typed, pasted or chosen as a file.
// A classic script beside basemap.js, which made `window.hazemap`.
window.hazemap.drawGathered = (map, text, file) => {
  "use strict";

  const PER_DEGREE = 1e7; // of the spelling that the page writes: [[name, corners], …]
  const MOST_BYTES = 200_000; // of a file that the server takes
  const layer = L.layerGroup().addTo(map);
  let turns = 0; // of drawing

  text.addEventListener("input", draw);
  file.addEventListener("change", draw);
  draw();

  async function draw() {
    const turn = ++turns;
    const chosen = file.files[0];
    const filed = chosen && chosen.size <= MOST_BYTES ? await chosen.text() : "";
    if (turn !== turns) return; // typed or chosen again meanwhile
    layer.clearLayers();
    for (const { name, points } of [text.value, filed].flatMap(read)) {
      const isSpot = points.length === 1;
      layer.addLayer(isSpot ? spot(points[0]) : ring(points));
      const sign = isSpot ? "centre-name" : "zone-name";
      if (name) layer.addLayer(window.hazemap.textMarker(middle(points), name, sign, "markerPane"));
    }
  }

  // What is no such text yet is not drawn; the server says what is wrong with it.
  function read(content) {
    try {
      const body = JSON.parse(content);
      const things = Array.isArray(body) ? body.map(spelled) : features(body).map(feature);
      return things.filter(({ points }) => points.length > 0 && points.flat().every(Number.isFinite));
    } catch {
      return [];
    }
  }

  function spelled([name, content]) {
    const corners = Array.isArray(content[0]) ? content : [content];
    return { name, points: corners.map(([lon, lat]) => [lat / PER_DEGREE, lon / PER_DEGREE]) };
  }

  function features(body) {
    if (body.type === "FeatureCollection") return body.features;
    return [body.type === "Feature" ? body : { geometry: body }];
  }

  function feature({ geometry, properties }) {
    const corners = geometry.type === "Point" ? [geometry.coordinates] : geometry.coordinates[0];
    const name = properties?.name || properties?.title || "";
    return { name: String(name), points: corners.map(([lon, lat]) => [lat, lon]) };
  }

  function spot(point) {
    return L.circleMarker(point, { className: "gathered spot", radius: 6, interactive: false });
  }

  function ring(points) {
    return L.polygon(points, { className: "gathered", interactive: false, smoothFactor: 0 });
  }

  function middle(points) {
    return L.latLngBounds(points).getCenter();
  }
};
