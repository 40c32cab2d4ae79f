// The operands that nothing writes before they are read: a source for each.

const {make} = globalThis.page;
const sources = [["", "zeros"], ["iota", "0, 1, 2 …"], ["iota-bits", "bit patterns 0, 1, 2 …"], ["random:1", "random, seed 1"], ["random:2", "random, seed 2"],
                 ["random:3", "random, seed 3"], ["paste", "pasted numbers"]];

/// Names of places that a list reads and nothing in it has written, with their shapes; from its answer.
export function readPlaces(places) {
  const written = new Set(), read = [];
  for (const place of places) {
    if (!place.operand) continue;
    if (!place.written && !place.registers.some(name => written.has(name))) read.push(place);
    if (place.written) for (const name of place.registers) written.add(name);
  }
  return [...read, ...places.filter(place => !place.operand)];
}

export class Inputs {
  /// `changed()` is called when the user has chosen another source.
  constructor(box, changed) {
    this.box = box;
    this.changed = changed;
    this.chosen = {};
  }

  /// Shows a row for each place; `chosen` has their sources by name.
  show(places, chosen) {
    this.chosen = {...chosen};
    const names = new Set([...places.map(place => place.name), ...Object.keys(chosen)]);
    this.box.replaceChildren(...[...names].map(name => this.row(name, places.find(place => place.name === name))));
  }

  row(name, place) {
    const source = this.chosen[name] ?? "", known = sources.some(([value]) => value === source && value !== "paste");
    const select = make("select", "", {"aria-label": `Source of ${name}`});
    select.append(...sources.map(([value, text]) => make("option", text, {value})));
    if (!known && /^[a-z]/.test(source)) select.append(make("option", source, {value: source}));
    select.value = known || /^[a-z]/.test(source) ? source : "paste";
    const label = make("label", "", {class: "input-row"});
    label.append(make("span", `${name}${place ? ` (${place.shape.join(" × ")} ${place.type})` : ""}`), select);
    const area = make("textarea", "", {rows: 4, spellcheck: "false", "aria-label": `Numbers of ${name}`, placeholder: "a row on each line"});
    area.value = select.value === "paste" ? source : "";
    area.hidden = select.value !== "paste";
    select.addEventListener("change", () => {
      area.hidden = select.value !== "paste";
      if (!area.hidden) return area.focus();
      this.set(name, select.value);
    });
    area.addEventListener("change", () => this.set(name, area.value));
    label.append(area);
    return label;
  }

  set(name, source) {
    if (source === "") delete this.chosen[name];
    else this.chosen[name] = source;
    this.changed();
  }
}
