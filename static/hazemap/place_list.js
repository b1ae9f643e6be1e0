// A text box with the list of places that it may mean, by ARIA's combobox pattern.
// `find` gives the places of a text, or null without an answer; `choose` is told of one and says what it did.
// `status`: an element for what is said, else one below the box.
import { make } from "./dom.js";

/** @type {(input: HTMLInputElement, search: PlaceSearch) => void} */
export function placeList(input, search) {
  const { find, choose, status = make("p", "place-status") } = search;
  const SHORTEST = 2; // bytes: one letter that is not Latin is enough
  const WAIT = 150; // milliseconds after a letter
  const NO_ANSWER = "Place search does not answer. Try again in a minute.";
  const list = make("ul", "place-list");
  /** @type {FoundPlace[]} */
  let places = [];
  let active = -1; // of the list's options
  let turns = 0; // of questions
  let timer = 0;
  build();

  function build() {
    const others = document.querySelectorAll(".place-list").length; // a page may have several maps
    list.id = `${input.id || "map-place"}${others || ""}-list`;
    list.hidden = true;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Places");
    status.setAttribute("role", "status");
    const roles = { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id };
    for (const [key, value] of Object.entries(roles)) input.setAttribute(key, value);
    input.after(list);
    if (!status.isConnected) list.after(status);
    input.addEventListener("input", () => {
      mark(-1);
      clearTimeout(timer);
      timer = window.setTimeout(look, WAIT);
    });
    input.addEventListener("keydown", pressed);
    input.addEventListener("blur", close);
    list.addEventListener("mousedown", (event) => event.preventDefault()); // the box keeps the focus
  }

  // Whether this question is still the latest one when it is answered.
  async function look() {
    clearTimeout(timer);
    const text = input.value.trim();
    const turn = ++turns;
    const isShort = new TextEncoder().encode(text).length < SHORTEST;
    const found = isShort ? [] : await find(text);
    if (turn !== turns) return false;
    places = found ?? [];
    show();
    status.textContent = isShort ? "" : told(text, found);
    return true;
  }

  /** @type {(text: string, found: FoundPlace[] | null) => string} */
  function told(text, found) {
    if (!found) return NO_ANSWER;
    if (!found.length) return `No place named “${text}”.`;
    return found.length === 1 ? "1 place" : `${found.length} places`;
  }

  function show() {
    list.replaceChildren(...places.map(option));
    const open = places.length > 0 && document.activeElement === input;
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    mark(-1);
  }

  /** @type {(place: FoundPlace, index: number) => HTMLElement} */
  function option(place, index) {
    const row = make("li");
    row.id = `${list.id}-${index}`;
    row.setAttribute("role", "option");
    row.append(make("b", "", place.name));
    const more = [place.area, place.also, place.inside ? "" : "outside this map"].filter(Boolean).join(" · ");
    if (more) row.append(" ", make("span", "", more));
    row.addEventListener("click", () => take(place));
    return row;
  }

  /** @type {(index: number) => void} */
  function mark(index) {
    active = index;
    [...list.children].forEach((row, at) => row.setAttribute("aria-selected", String(at === index)));
    const row = list.children[index];
    row ? input.setAttribute("aria-activedescendant", row.id) : input.removeAttribute("aria-activedescendant");
    row?.scrollIntoView({ block: "nearest" });
  }

  /** @type {(event: KeyboardEvent) => void} */
  function pressed(event) {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter") enter();
    else if (event.key === "Escape") escape();
    else return;
    event.preventDefault();
    event.stopPropagation(); // neither the map nor a form hears it
  }

  /** @type {(step: 1 | -1) => void} */
  function move(step) {
    if (list.hidden) show();
    if (!places.length) return;
    const next = active < 0 && step < 0 ? places.length - 1 : active + step;
    mark((next + places.length) % places.length);
  }

  // The marked place, else the first one of the text as it stands.
  async function enter() {
    if (active >= 0) take(places[active]);
    else if ((await look()) && places.length) take(places[0]);
  }

  function escape() {
    if (list.hidden) input.value = "";
    status.textContent = "";
    close();
  }

  function close() {
    clearTimeout(timer);
    turns += 1;
    list.hidden = true;
    list.replaceChildren(); // what is not shown is not read out either; an arrow key brings it back
    input.setAttribute("aria-expanded", "false");
    mark(-1);
  }

  /** @type {(place: FoundPlace) => void} */
  function take(place) {
    close();
    input.value = place.area ? `${place.name}, ${place.area}` : place.name;
    status.textContent = choose(place);
  }
}
