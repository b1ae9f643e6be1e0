// A map inside a form (templates/parts/form_map.html): place names, and the way to a place that is typed.
// A classic script beside basemap.js, which made `window.hazemap`.
// `shown` is told when the map got a size and can be fitted to something; `found`, if any, of a place gone to.
window.hazemap.formMap = (told) => {
  "use strict";

  const { shown, found } = told;
  const ground = document.getElementById("region-map");
  const news = document.getElementById("region-news");
  const placeInput = document.getElementById("place");
  // Of a rectangle that everything has to lie within.
  const bounds = ground.dataset.bounds?.split(",").map(Number);

  let shownPlace = ""; // the place the map went to, as it was typed
  let turns = 0; // of questions for a place

  document.getElementById("region-tools").hidden = false;
  ground.hidden = false;

  const map = L.map(ground, { attributionControl: false, minZoom: 1, zoomControl: false }).setView([25, 0], 2);
  L.control.zoom({ position: "topright" }).addTo(map);
  L.control.scale({ imperial: false }).addTo(map);
  const names = window.hazemap.basemap(map, {
    region: bounds ?? null, places: [], attribution: "Place names: GeoNames (CC BY 4.0)",
  });

  map.on("moveend", loadPlaces);
  placeInput.addEventListener("input", debounced(findPlace, 200));
  placeInput.addEventListener("change", findPlace);
  placeInput.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    shownPlace = ""; // asked for again, the map goes there again
    findPlace();
  });
  // Folded away, a map has no size; it gets one when it is unfolded.
  ground.closest("details")?.addEventListener("toggle", () => {
    map.invalidateSize();
    shown();
  });
  // The same where what is not asked for is hidden: only then, so that nobody's view is taken away.
  let visible = ground.clientWidth > 0;
  new ResizeObserver(() => {
    const appeared = !visible && ground.clientWidth > 0;
    visible = ground.clientWidth > 0;
    if (!appeared) return;
    map.invalidateSize();
    shown();
  }).observe(ground);
  loadPlaces();
  return { map, bounds, ground, news };

  async function loadPlaces() {
    const view = map.getBounds();
    const bbox = [
      Math.max(view.getWest(), -180), Math.max(view.getSouth(), -85),
      Math.min(view.getEast(), 180), Math.min(view.getNorth(), 85),
    ];
    if (!(bbox[0] < bbox[2] && bbox[1] < bbox[3])) return;
    names.show(await places(`bbox=${bbox.map((value) => value.toFixed(4)).join(",")}`));
  }

  // Typing, Enter and leaving the field all ask; one place is gone to once, or a later question's
  // answer would take away what the first one said and move the map under somebody's hand.
  async function findPlace() {
    const wanted = placeInput.value.trim();
    if (wanted.length < 2 || wanted === shownPlace) return;
    const turn = ++turns;
    const answers = await places(`name=${encodeURIComponent(wanted.split(",")[0])}`);
    if (turn !== turns) return; // asked again meanwhile
    const list = document.getElementById("place-list");
    list.replaceChildren(...answers.map((place) => new Option("", `${place.name}, ${place.country}`)));
    const exact = answers.find((place) => `${place.name}, ${place.country}` === wanted);
    shownPlace = exact ? wanted : "";
    if (exact) goTo(exact);
  }

  function goTo(place) {
    map.setView([place.lat, place.lon], 9);
    news.textContent = `The map shows ${place.name}.`;
    found?.(place);
  }

  async function places(query) {
    try {
      const response = await fetch(`${ground.dataset.places}?${query}`);
      return response.ok ? (await response.json()).places : [];
    } catch {
      return [];
    }
  }

  function debounced(run, wait) {
    let timer;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(run, wait);
    };
  }
};
