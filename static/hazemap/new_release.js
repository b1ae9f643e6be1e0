// Shows only the parameters of the chosen mechanism, and brings a new quote into view.
const fieldsets = [...document.querySelectorAll("fieldset[data-mechanism]")];
const radios = [...document.querySelectorAll('input[name="mechanism"]')];

function showParameters() {
  const chosen = radios.find((radio) => radio.checked)?.value;
  for (const fieldset of fieldsets) {
    const own = fieldset.dataset.mechanism === chosen;
    fieldset.hidden = !own;
    fieldset.disabled = !own;
  }
}

for (const radio of radios) radio.addEventListener("change", showParameters);
showParameters();
