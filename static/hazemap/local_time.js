// Puts the reader's own time beside each moment in UTC. Without it UTC stands.
const two = (/** @type {number} */ number) => String(number).padStart(2, "0");

/** @type {(at: Date) => string} */
function local(at) {
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  const sameDay = at.getDate() === at.getUTCDate();
  return sameDay ? time : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

for (const told of /** @type {NodeListOf<HTMLTimeElement>} */ (document.querySelectorAll("time[datetime*='T']"))) {
  const at = new Date(told.dateTime);
  if (!at.getTimezoneOffset()) continue;
  const beside = document.createElement("span");
  beside.className = "soft";
  beside.textContent = ` (${local(at)} local time)`;
  told.append(beside);
}
