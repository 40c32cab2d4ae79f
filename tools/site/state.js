"use strict";
// What is chosen, and the page's address, which says it: #view=layout&opcode=...&operand=a

const defaults = {
  view: "layout",
  // layouts
  target: "", opcode: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", operand: "a", matrix: 0, row: 0, column: 0, colour: "lane",
  major: "k", swizzle: "128",
  // banks
  rows: 64, columns: 64, bits: 16, store: "cp.async.16", load: "ldmatrix.x4", b: 3, m: 4, s: 3, pad: 0, shown: "load", instruction: 0,
};

const state = {
  ...defaults,
  given: false,  // by an address that no view has shown yet: what it says wrongly is then told

  /// Takes what the page's address says; what it does not say, or says wrongly, is the default.
  read() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const key of Object.keys(defaults)) {
      const text = given.get(key);
      if (typeof defaults[key] === "number") state[key] = /^\d{1,5}$/.test(text) ? Number(text) : defaults[key];
      else state[key] = text === null ? defaults[key] : text;
    }
    if (state.view !== "banks") state.view = "layout";
    state.given = true;
  },

  /// Writes it a moment later, without a new entry in the browser's history; browsers refuse hundreds of changes in a row.
  write() {
    clearTimeout(state.waiting);
    state.waiting = setTimeout(() => history.replaceState(null, "", "#" + state.text()), 150);
  },

  text() {
    const said = new URLSearchParams();
    for (const key of Object.keys(defaults)) if (state[key] !== defaults[key]) said.set(key, state[key]);
    return said.toString();
  },
};
