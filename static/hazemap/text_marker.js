// A text that stands on a map. It goes in as text: no name is ever read as HTML.

/** @type {(point: L.LatLngExpression, text: string, className: string, pane: string) => L.Marker} */
export function textMarker(point, text, className, pane) {
  const element = document.createElement("span");
  element.textContent = text;
  return L.marker(point, {
    icon: L.divIcon({ className, html: element, iconSize: undefined }),
    interactive: false, keyboard: false, pane,
  });
}
