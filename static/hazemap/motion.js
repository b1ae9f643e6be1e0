// Maps do not glide where the reader asked for less motion. It stands before the first map is made.
(() => {
  "use strict";

  if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const { panBy } = L.Map.prototype;
  L.Map.mergeOptions({ fadeAnimation: false, inertia: false, markerZoomAnimation: false, zoomAnimation: false });
  L.Map.include({
    /** @type {(this: L.Map, offset: L.PointExpression, options?: L.PanOptions) => L.Map} */
    panBy(offset, options) {
      return panBy.call(this, offset, { ...options, animate: false });
    },
  });
})();
