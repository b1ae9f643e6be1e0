// Maps do not glide where the reader asked for less motion. Imported before the first map is made.

if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) {
  const { panBy } = L.Map.prototype;
  L.Map.mergeOptions({ fadeAnimation: false, inertia: false, markerZoomAnimation: false, zoomAnimation: false });
  L.Map.include({
    /** @type {(this: L.Map, offset: L.PointExpression, options?: L.PanOptions) => L.Map} */
    panBy(offset, options) {
      return panBy.call(this, offset, { ...options, animate: false });
    },
  });
}
