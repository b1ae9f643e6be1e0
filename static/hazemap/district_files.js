// District files that are stored with the dataset: a button for each, which adds all of its districts.
// `add` gets the areas of a file and its title; what goes wrong goes to `refuse`.
import { read } from "./areas.js";
import { button, make } from "./dom.js";

/** @type {(add: (areas: Area[], title: string) => void, refuse: (error: unknown) => void) => HTMLElement[]} */
export function districtFiles(add, refuse) {
  const listed = document.getElementById("districts"); // on pages alone: a file of its own asks nobody
  /** @type {DistrictFile[]} */
  const files = listed ? JSON.parse(listed.textContent ?? "[]") : [];

  /** @type {(file: DistrictFile) => HTMLElement} */
  function offer(file) {
    const box = make("p", "district-file");
    const adding = button(`Add ${file.title}`, async () => {
      adding.setAttribute("aria-busy", "true");
      try {
        add(await areasOf(file), file.title);
      } catch (error) {
        refuse(error);
      }
      adding.removeAttribute("aria-busy");
    });
    const cited = file.licence ? `${file.source}, ${file.licence}` : file.source;
    box.append(adding, make("small", "", cited));
    return box;
  }

  /** @type {(file: DistrictFile) => Promise<Area[]>} */
  async function areasOf(file) {
    const answer = await fetch(file.address).catch(() => null);
    if (!answer?.ok) throw new Error(`${file.title} cannot be had now. Try again.`);
    return read(await answer.text());
  }

  return files.map(offer);
}
