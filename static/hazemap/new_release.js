// Shows only what the chosen mechanism asks for, and a rectangle of the region on its map.
const fieldsets = [...document.querySelectorAll("fieldset[data-mechanism], fieldset[data-kind], fieldset[data-delta]")];
const radios = [...document.querySelectorAll('input[name="mechanism"]')];

function showParameters() {
  const chosen = radios.find((radio) => radio.checked);
  for (const fieldset of fieldsets) {
    const { mechanism, kind, delta } = fieldset.dataset;
    const own = mechanism
      ? mechanism === chosen?.value
      : kind
        ? kind === chosen?.dataset.kind
        : delta === chosen?.dataset.delta;
    fieldset.hidden = !own;
    fieldset.disabled = !own;
  }
}

const questions = ["trusted", "protects"].map((name) => document.getElementById(`id_${name}`));

// As the button without scripts does it: hides what does not fit both answers.
function showWhatFits() {
  const choices = [...document.querySelectorAll("label.choice[data-trusted]")];
  for (const choice of choices) {
    choice.hidden = questions.some((select) => select.value && choice.dataset[select.name] !== select.value);
  }
  for (const others of document.querySelectorAll("details.others")) {
    const inside = [...others.querySelectorAll("label.choice")];
    others.hidden = inside.every((choice) => choice.hidden);
    if (questions.some((select) => select.value)) others.open = !others.hidden;
  }
  const fitting = choices.filter((choice) => !choice.hidden).map((choice) => choice.querySelector("input"));
  document.getElementById("nothing-fits").hidden = fitting.length > 0;
  const usual = fitting.filter((radio) => !radio.closest("details.others"));
  if (fitting.length > 0 && !fitting.some((radio) => radio.checked)) (usual[0] ?? fitting[0]).checked = true;
  showParameters();
}

for (const select of questions) select.addEventListener("change", showWhatFits);
document.getElementById("show-what-fits").hidden = true;
for (const radio of radios) radio.addEventListener("change", showParameters);
showParameters();
window.hazemap.regionPicker(document.getElementById("release-form"), "All of the region is asked about.");
