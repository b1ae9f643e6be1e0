// Reads the OpenAPI document of our own origin; nothing is asked of anybody else.
"use strict";

const place = document.getElementById("api");

SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  validatorUrl: null,
  deepLinking: true,
});
