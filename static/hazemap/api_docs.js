// Reads the OpenAPI document of our own origin; nothing is asked of anybody else.
"use strict";

const place = /** @type {HTMLElement} */ (document.getElementById("api"));

// What Swagger UI's own markup lacks for screen readers and keyboards.
const readable = (/** @type {{ React: any }} */ { React }) => ({
  wrapComponents: {
    // No link inside of the button that opens an operation; the address follows what is open all the same.
    DeepLink: () => (/** @type {{ text: string }} */ { text }) => React.createElement("span", null, text),
    // The headings of its groups are of the third level.
    operations: (/** @type {any} */ Operations) => (/** @type {any} */ props) => React.createElement(
      React.Fragment, null,
      React.createElement("h2", { className: "requests-title" }, "Requests"),
      React.createElement(Operations, props),
    ),
  },
});

// Attributes that its elements lack: a selector, the attribute, its value.
const ATTRIBUTES = [
  [".information-container", "role", "region"],
  [".information-container", "aria-label", "About this API"],
  [".examples-select-element", "aria-label", "Example"],
  [".body-param__text", "aria-label", "Request body"],
  [".close-modal", "aria-label", "Dismiss"],
  [".modal-ux", "role", "dialog"],
  [".modal-ux", "aria-label", "Authorize"],
  [".modal-ux-header h3", "aria-level", "2"],
  [".modal-ux-content h4", "aria-level", "3"],
  [".microlight", "tabindex", "0"], // wide ones scroll
];

function complete() {
  for (const [selector, attribute, value] of ATTRIBUTES) {
    for (const element of place.querySelectorAll(`${selector}:not([${attribute}])`)) {
      element.setAttribute(attribute, value);
    }
  }
  for (const answers of place.querySelectorAll(".responses-table:not([aria-label])")) {
    const operation = answers.closest(".opblock");
    answers.ariaLabel = `Answers of ${operation?.querySelector(".opblock-summary-control")?.textContent}`;
  }
  for (const row of place.querySelectorAll("tr[data-param-name]")) {
    const name = row.getAttribute("data-param-name");
    for (const field of row.querySelectorAll("select, input, textarea")) field.ariaLabel ??= name;
  }
}

new MutationObserver(complete).observe(place, { childList: true, subtree: true });

SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [readable],
  layout: "BaseLayout",
  validatorUrl: null,
  deepLinking: true,
});
