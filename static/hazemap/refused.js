// A refused form says so first: the focus goes to the summary, or to the first field that is wrong.
const summary = /** @type {HTMLElement | null} */ (document.querySelector('main .note.bad[role="alert"]'));
const wrong = /** @type {HTMLElement | null} */ (document.querySelector('main [aria-invalid="true"]'));

if (summary) {
  summary.tabIndex = -1;
  summary.focus();
} else if (wrong) {
  wrong.focus();
}
