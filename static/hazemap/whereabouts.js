// Where a point lies, in words, from the places that a map knows. Pure: tests run it in node.

const WINDS = ["east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east"];
const KM_PER_DEGREE = 111.2;
const FARTHEST_KM = 500;

// "Hoboken" within a kilometre of it, else "3 km north of Hoboken"; empty far from any place.
/** @type {(places: Place[], point: Spot) => string} */
export function whereabouts(places, { lat, lng }) {
  const shortened = Math.cos((lat * Math.PI) / 180);
  let nearest = { km: Infinity, east: 0, north: 0, name: "" };
  for (const place of places) {
    const north = (lat - place.lat) * KM_PER_DEGREE;
    const turn = ((((lng - place.lon + 180) % 360) + 360) % 360) - 180;
    const east = turn * KM_PER_DEGREE * shortened;
    const km = Math.hypot(east, north);
    if (km < nearest.km) nearest = { km, east, north, name: place.name };
  }
  if (nearest.km > FARTHEST_KM) return "";
  return nearest.km < 1 ? nearest.name : `${Math.round(nearest.km)} km ${wind(nearest)} of ${nearest.name}`;
}

/** @type {(way: { east: number, north: number }) => string} */
function wind({ east, north }) {
  return WINDS[(Math.round((Math.atan2(north, east) * 4) / Math.PI) + 8) % 8];
}
