"use strict";
// The view of a tile in shared memory: what a layout costs when the tile is stored and loaded.

const bankView = {
  sliders: {b: [0, 5], m: [0, 7], s: [0, 8], pad: [0, 64]},

  start() {
    const choices = (first, last) => Array.from({length: last - first + 1}, (_, i) => [1 << first + i, 1 << first + i]);
    fillSelect(byId("tile-rows"), choices(3, 8), state.rows);
    fillSelect(byId("tile-columns"), choices(3, 9), state.columns);
    fillSelect(byId("tile-bits"), choices(2, 6), state.bits);
    fillSelect(byId("store"), tables.stores.map(a => [a.name, a.name]), state.store);
    fillSelect(byId("load"), tables.loads.map(a => [a.name, a.name]), state.load);
    fillSelect(byId("shown"), [["store", "the store"], ["load", "the load"]], state.shown);
    const names = {"tile-rows": "rows", "tile-columns": "columns", "tile-bits": "bits", store: "store", load: "load", shown: "shown",
                   b: "b", m: "m", s: "s", pad: "pad", instruction: "instruction"};
    for (const [id, name] of Object.entries(names))
      byId(id).addEventListener("input", () => {
        state[name] = typeof defaults[name] === "number" ? Number(byId(id).value) : byId(id).value;
        bankView.show();
      });
    byId("best").addEventListener("click", () => bankView.takeBest());
    bankView.tileGrid = new Grid("tile", {rows: 64, columns: 32}, {onPoint: bankView.tellChunk, onChoose: bankView.tellChunk});
    bankView.bankGrid = new Grid("phases", {rows: 32, columns: 32}, {onPoint: bankView.tellBank, onChoose: bankView.tellBank});
  },

  /// Brings the state into range and the controls in line with it.
  settle() {
    for (const [name, [least, most]] of Object.entries(bankView.sliders)) state[name] = clamped(state[name], least, most);
    for (const [id, name] of [["tile-rows", "rows"], ["tile-columns", "columns"], ["tile-bits", "bits"], ["store", "store"], ["load", "load"], ["shown", "shown"]]) {
      byId(id).value = state[name];
      if (byId(id).selectedIndex < 0) byId(id).value = state[name] = defaults[name];
    }
    const tile = {rows: state.rows, columns: state.columns, bits: state.bits};
    const store = tables.stores.find(a => a.name === state.store), load = tables.loads.find(a => a.name === state.load);
    const layout = {bits: state.b, base: state.b ? state.m : 0, shift: state.b ? state.s : 0, pad: state.pad};
    const access = state.shown === "store" ? store : load;
    state.instruction = clamped(state.instruction, 0, Math.max(banks.instructions(tile, access) - 1, 0));
    byId("instruction").max = Math.max(banks.instructions(tile, access) - 1, 0);
    for (const name of ["b", "m", "s", "pad", "instruction"]) {
      byId(name).value = state[name];
      byId(name + "-value").textContent = state[name];
    }
    return {tile, store, load, layout, access};
  },

  /// Why nothing can be counted; empty where it can.
  problem({tile, store, load, layout}) {
    if (banks.rowBytes(tile) % 16 !== 0) return `A row has ${banks.rowBytes(tile)} bytes; it must have a multiple of 16.`;
    for (const access of [store, load])
      if (!banks.instructions(tile, access)) return `${access.name} does not divide this tile: choose more rows or columns.`;
    if (layout.shift < layout.bits) return "The shift S must be at least the number of bits B: else bits would flip themselves.";
    const bytes = tile.rows * (banks.rowBytes(tile) + layout.pad);
    if (layout.bits && bytes % (1 << layout.base + layout.bits) !== 0) return "The swizzle reaches beyond the tile: choose fewer bits B or a smaller base M.";
    const widest = Math.max(store.bytes, load.bytes);
    if (layout.bits && 1 << layout.base < widest) return `The base M is too small: 2^M bytes must hold the ${widest} bytes that a lane accesses.`;
    if (layout.pad % widest !== 0) return `The padding must be a multiple of the ${widest} bytes that a lane accesses.`;
    return "";
  },

  show() {
    const now = bankView.now = bankView.settle();
    const problem = bankView.problem(now);
    byId("bank-problem").textContent = problem;
    byId("bank-result").hidden = problem !== "";
    if (problem === "") {
      bankView.showCounts(now);
      bankView.showGrids(now);
    }
    state.write();
  },

  showCounts({tile, store, load, layout}) {
    const text = access => {
      const {taken, least} = banks.wavefronts(tile, access, layout);
      return `${access.name} takes ${taken} wavefronts, ${taken === least ? "the least possible" : `${least} without conflicts`}.`;
    };
    byId("counts").textContent = `Layout ${banks.name(tile, layout)}: ${text(store)} ${text(load)}`;
    byId("formula").textContent = banks.formula(tile, layout);
    byId("swizzle-command").textContent =
      `warpmat swizzle --tile ${tile.rows}x${tile.columns}:${bankView.format(tile.bits)} --store ${store.name} --load ${load.name}`;
  },

  /// A format of so many bits, for the command.
  format(bits) {
    return {4: "s4", 8: "s8", 16: "f16", 32: "f32", 64: "f64"}[bits];
  },

  showGrids({tile, layout, access}) {
    const addresses = banks.addresses(tile, access, layout, state.instruction);
    bankView.now.phases = banks.phases(access, addresses);
    bankView.now.users = new Map();
    addresses.forEach((_, lane) => {
      const {row, chunk} = banks.spot(tile, access, state.instruction, lane), key = `${row},${chunk}`;
      bankView.now.users.set(key, [...(bankView.now.users.get(key) || []), lane]);
    });
    bankView.tileGrid.show(bankView.tileContent(bankView.now));
    bankView.bankGrid.show(bankView.bankContent(bankView.now));
    bankView.tileGrid.choose(0, 0);
    bankView.bankGrid.choose(0, 0);
    byId("bank-sentence").textContent = `Instruction ${state.instruction} of ${access.name}: ` +
      `${bankView.now.phases.reduce((sum, phase) => sum + phase.wavefronts, 0)} wavefronts in ${bankView.now.phases.length} phases`;
  },

  /// The tile in pieces of as many bytes as a lane accesses: the first bank of each, and who accesses it.
  tileContent({tile, layout, access, users}) {
    return {rows: tile.rows, columns: banks.rowBytes(tile) / access.bytes, axes: ["row", "piece"], rowName: String,
            columnName: column => String(column * access.bytes), caption: `The tile, ${access.bytes} bytes a cell: first bank, and the lanes of this instruction`,
            cell: (row, column) => {
              const bank = (banks.offset(tile, layout, row, column * access.bytes) >> 2) % banks.count, lanes = users.get(`${row},${column}`);
              return {text: lanes ? `${bank} T${lanes.join(" T")}` : String(bank), colour: tables.colours[bank], label: bankView.chunkSentence(row, column), used: lanes !== undefined};
            }};
  },

  chunkSentence(row, column) {
    const {tile, layout, access, users} = bankView.now, lanes = users.get(`${row},${column}`);
    const offset = banks.offset(tile, layout, row, column * access.bytes), last = (offset + access.bytes - 1 >> 2) % banks.count;
    const bank = (offset >> 2) % banks.count;
    return `row ${row}, bytes ${column * access.bytes} to ${(column + 1) * access.bytes - 1}: offset 0x${offset.toString(16)}, ` +
      `${bank === last ? `bank ${bank}` : `banks ${bank} to ${last}`}; ${lanes ? `lane ${lanes.join(", ")}` : "no lane of this instruction"}`;
  },

  bankContent({phases}) {
    return {rows: phases.length, columns: banks.count, axes: ["phase", "bank"], columnName: String,
            rowName: row => `lanes ${phases[row].first}-${phases[row].last - 1}`, caption: "The banks: how many wavefronts each phase asks of them",
            cell: (row, column) => {
              const asked = phases[row].asked[column];
              return {text: asked ? String(asked) : "", colour: asked === 0 ? "" : asked === 1 ? tables.colours[2] : tables.colours[5], label: bankView.bankSentence(row, column)};
            }};
  },

  bankSentence(row, column) {
    const {first, last, asked, lanes, wavefronts} = bankView.now.phases[row];
    const who = asked[column] ? `${asked[column]} of lane${lanes[column].size > 1 ? "s" : ""} ${[...lanes[column]].join(", ")}` : "none";
    return `lanes ${first} to ${last - 1}, bank ${column}: ${who}; the phase takes ${wavefronts}`;
  },

  tellChunk(row, column) {
    if (row !== undefined) byId("bank-sentence").textContent = bankView.chunkSentence(row, column);
  },

  tellBank(row, column) {
    if (row !== undefined) byId("bank-sentence").textContent = bankView.bankSentence(row, column);
  },

  takeBest() {
    const {tile, store, load} = bankView.now, sound = {bits: 0, base: 0, shift: 0, pad: 0};
    const problem = bankView.problem({tile, store, load, layout: sound});
    if (problem) return;
    const {bits, base, shift, pad} = banks.best(tile, [store, load]);
    Object.assign(state, {b: bits, m: bits ? base : state.m, s: bits ? shift : state.s, pad});
    bankView.show();
  },
};
