// A refused form says so first: the focus goes to the summary, or to the first field that is wrong.
const summary = document.querySelector('main .note.bad[role="alert"]');
const wrong = document.querySelector('main [aria-invalid="true"]');

if (summary) {
  summary.tabIndex = -1;
  summary.focus();
} else if (wrong) {
  wrong.focus();
}
