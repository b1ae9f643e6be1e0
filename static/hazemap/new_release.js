// The parts of a question that only some have: its rectangle, and the filter of methods. The map is that of
// new_release_map.js; the cost is kept up to date by live_quote.js.
const form = /** @type {HTMLFormElement} */ (document.getElementById("release-form"));

// A rectangle is asked for of maps only.
function showRectangle() {
  const method = /** @type {HTMLInputElement | null} */ (
    form.querySelector('input[name="mechanism"]:checked, input[type="hidden"][name="mechanism"]')
  );
  for (const fieldset of /** @type {NodeListOf<HTMLFieldSetElement>} */ (form.querySelectorAll("fieldset[data-kind]"))) {
    fieldset.hidden = fieldset.disabled = fieldset.dataset.kind !== method?.dataset.kind;
  }
}

// As the button without scripts does it: hides what does not fit both answers.
/** @type {(questions: HTMLSelectElement[]) => void} */
function showWhatFits(questions) {
  const choices = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("label.choice[data-trusted]"))];
  for (const choice of choices) {
    choice.hidden = questions.some((select) => select.value && choice.dataset[select.name] !== select.value);
  }
  for (const others of /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details.others"))) {
    const inside = [.../** @type {NodeListOf<HTMLElement>} */ (others.querySelectorAll("label.choice"))];
    others.hidden = inside.every((choice) => choice.hidden);
    if (questions.some((select) => select.value)) others.open = !others.hidden;
  }
  const fitting = choices.filter((choice) => !choice.hidden).map((choice) => /** @type {HTMLInputElement} */ (choice.querySelector("input")));
  const nothing = /** @type {HTMLElement} */ (document.getElementById("nothing-fits"));
  nothing.hidden = fitting.length > 0;
  const usual = fitting.filter((radio) => !radio.closest("details.others"));
  if (fitting.length === 0 || fitting.some((radio) => radio.checked)) return;
  const first = usual[0] ?? fitting[0];
  first.checked = true;
  first.dispatchEvent(new Event("change", { bubbles: true }));
}

function chooseMethod() {
  const questions = ["trusted", "protects"].map((name) => /** @type {HTMLSelectElement} */ (document.getElementById(`id_${name}`)));
  for (const select of questions) select.addEventListener("change", () => showWhatFits(questions));
  /** @type {HTMLElement} */ (document.getElementById("show-what-fits")).hidden = true;
  form.addEventListener("change", showRectangle);
}

if (document.getElementById("what-fits")) chooseMethod();
showRectangle();
