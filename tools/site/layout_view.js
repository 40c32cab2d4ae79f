"use strict";
// The view of an instruction: its operands as matrices and as places, and how its bits are known.

const layoutView = {
  start() {
    const redraw = () => layoutView.show();
    const onChange = (id, take) => byId(id).addEventListener("change", () => {
      take(byId(id).value);
      redraw();
    });
    onChange("target", value => state.target = value);
    onChange("opcode", value => state.opcode = value);
    onChange("operand", value => state.operand = value);
    onChange("matrix", value => state.matrix = Number(value));
    onChange("major", value => state.major = value);
    onChange("swizzle", value => state.swizzle = value);
    onChange("colour", value => state.colour = value);
    byId("filter").addEventListener("input", () => layoutView.fillOpcodes());
    onChange("family", value => layoutView.enter(value, ""));
    onChange("types", value => layoutView.enter(byId("family").value, value));
    layoutView.elements = new Grid("elements", {rows: 64, columns: 64}, {
      onPoint: (row, column) => layoutView.tell(row === undefined ? null : {row, column, matrix: state.matrix}),
      onChoose: (row, column) => layoutView.choose({row, column, matrix: state.matrix}),
    });
    layoutView.places = new Grid("places", {rows: 32, columns: 32}, {
      onPoint: (row, column) => layoutView.tellPlace(row, column),
      onChoose: (row, column) => layoutView.choosePlace(row, column),
    });
    fillSelect(byId("target"), [["", "all targets"], ...tables.targets.map(t => [t.name, `${t.name}: ${t.cards}`])], "");
  },

  // ---- What is chosen --------------------------------------------------------------------------------------------------------------

  /// The form of state.opcode as an object; an opcode that no form has is replaced by the first one.
  form() {
    let found = tables.forms.find(form => form[0] === state.opcode);
    if (!found) {
      found = tables.forms.find(form => form[0] === defaults.opcode);
      state.opcode = found[0];
    }
    const [opcode, need, operands, lowering] = found;
    return {opcode, need: tables.needs[need], operands: operands.map(n => tables.operands[n]), lowerings: tables.lowerings[lowering]};
  },

  /// An operand's name, which tells wgmma's a in registers from a in shared memory.
  operandName(operand) {
    return operand.name + (tables.layouts[operand.layout].kind === "memory" ? " in shared memory" : "");
  },

  /// "mma", "mma.sp", "wgmma", "wmma.load": what instructions are listed under.
  familyOf(opcode) {
    const parts = opcode.split("."), first = parts[0] === "wmma" ? `wmma.${parts[1]}` : parts[0];
    return parts.some(part => part === "sp" || part.startsWith("sp::")) ? `${first}.sp` : first;
  },

  /// "f16, f16 to f32": the types that an opcode ends with, those of multiplicands and of the result; of other instructions the last part.
  typesOf(opcode) {
    const types = opcode.split(".").filter(part => /^([usb]\d+|[a-z]*f\d+|e\dm\d|ue\dm\d)$/.test(part));
    const unique = [...new Set(types)];
    return unique.length ? unique.join(" ") : opcode.split(".").at(-1);
  },

  /// Chooses the first instruction of a family that the target has, of these types if any are named.
  enter(family, types) {
    const found = tables.forms.filter(form => layoutView.familyOf(form[0]) === family && (!types || layoutView.typesOf(form[0]) === types));
    const first = found.find(layoutView.hasForm) || found[0];
    byId("filter").value = "";
    layoutView.types = types;
    state.opcode = first[0];
  },

  /// Both selects, for the chosen instruction.
  fillFamilies() {
    const family = layoutView.familyOf(state.opcode), counts = new Map(), types = new Map();
    for (const [opcode] of tables.forms) {
      const of = layoutView.familyOf(opcode);
      counts.set(of, (counts.get(of) || 0) + 1);
      if (of === family) types.set(layoutView.typesOf(opcode), (types.get(layoutView.typesOf(opcode)) || 0) + 1);
    }
    fillSelect(byId("family"), [...counts].map(([name, count]) => [name, `${name} (${count})`]), family);
    if (layoutView.types !== layoutView.typesOf(state.opcode)) layoutView.types = "";
    fillSelect(byId("types"), [["", "all types"], ...[...types].map(([name, count]) => [name, `${name} (${count})`])], layoutView.types);
  },

  hasForm(form) {
    return state.target === "" || tables.needs[form[1]].targets.includes(state.target);
  },

  /// Lists the instructions that the target has: those of the family and types, or where words are to be found all whose names have them. The
  /// chosen one always.
  fillOpcodes() {
    layoutView.fillFamilies();
    const family = byId("family").value, types = byId("types").value, listed = byId("opcode");
    const wanted = [state.target, byId("filter").value, family, types].join("\n");
    if (layoutView.listed === wanted && [...listed.options].some(option => option.value === state.opcode)) {
      listed.value = state.opcode;
      return;
    }
    layoutView.listed = wanted;
    const words = byId("filter").value.toLowerCase().split(/\s+/).filter(word => word !== "");
    const listsForm = ([opcode]) => words.length ? words.every(word => opcode.includes(word))
      : layoutView.familyOf(opcode) === family && (!types || layoutView.typesOf(opcode) === types);
    const found = tables.forms.filter(form => form[0] === state.opcode || (layoutView.hasForm(form) && listsForm(form)));
    fillSelect(listed, found.map(form => [form[0], form[0]]), state.opcode);
    byId("found").textContent = `${found.length} of ${tables.forms.length} instructions`;
  },

  /// Brings the state into the range of what the form has, and all controls in line with it.
  settle() {
    const asked = {...state};
    if (!tables.targets.some(target => target.name === state.target)) state.target = "";
    byId("target").value = state.target;
    const form = layoutView.form();
    if (!form.operands.some(o => layoutView.operandName(o) === state.operand))
      state.operand = form.operands.map(o => layoutView.operandName(o)).find(name => name.startsWith(`${state.operand} `)) || state.operand;
    layoutView.fillOpcodes();
    state.operand = fillSelect(byId("operand"), form.operands.map(o => [layoutView.operandName(o), `${layoutView.operandName(o)} (${o.format})`]), state.operand);
    const operand = form.operands.find(o => layoutView.operandName(o) === state.operand), layout = tables.layouts[operand.layout];
    const memory = layout.kind === "memory";
    state.matrix = Number(fillSelect(byId("matrix"), (operand.matrices || [""]).map((text, number) => [number, text]), state.matrix));
    byId("matrix").closest("label").hidden = layout.matrices === 1;
    byId("major").closest("label").hidden = byId("swizzle").closest("label").hidden = !memory;
    byId("colour").closest("label").hidden = layout.kind !== "registers";
    if (memory) {
      state.major = fillSelect(byId("major"), Object.keys(layout.majors).map(m => [m, m === "k" ? "K-major" : "MN-major"]), state.major);
      state.swizzle = fillSelect(byId("swizzle"), ["128", "64", "32", "none"].map(s => [s, s === "none" ? "none" : `${s} bytes`]), state.swizzle);
    }
    state.colour = fillSelect(byId("colour"), [["lane", "lane"], ["register", "register"]], state.colour);
    state.row = clamped(state.row, 0, layout.rows - 1);
    state.column = clamped(state.column, 0, layout.columns - 1);
    layoutView.tellReplaced(asked);
    return {form, operand, layout};
  },

  /// Says what an address asked for that is not there, and what is shown in its place.
  tellReplaced(asked) {
    const words = {target: "target", opcode: "instruction", operand: "operand", matrix: "matrix", row: "row", column: "column"};
    const same = key => asked[key] === state[key] || (key === "operand" && String(state[key]).startsWith(`${asked[key]} `));
    const wrong = Object.keys(words).filter(key => !same(key));
    if (state.given) {
      byId("replaced").hidden = wrong.length === 0;
      byId("replaced").textContent = wrong.map(key =>
        `There is no ${words[key]} ${asked[key]} here; ${state[key] === "" ? "all are" : `${state[key]} is`} shown.`).join(" ");
    } else {
      byId("replaced").hidden = true;
    }
    state.given = false;
  },

  // ---- Both grids ------------------------------------------------------------------------------------------------------------------

  show() {
    const {form, operand, layout} = layoutView.settle();
    layoutView.now = {form, operand, layout, held: new Map()};
    layoutView.now.frame = layoutView.frameOf(layout);
    for (let matrix = 0; matrix < layout.matrices; ++matrix)
      for (const element of layouts.elements(layout, matrix)) layoutView.hold(element);
    for (const elements of layoutView.now.held.values()) elements.sort((x, y) => x.order - y.order);
    byId("remark").textContent = operand.remark;
    layoutView.elements.show(layoutView.elementContent());
    layoutView.places.show(layoutView.placeContent());
    layoutView.showKnowledge();
    layoutView.showNotation();
    layoutView.choose({row: state.row, column: state.column, matrix: state.matrix});
  },

  /// The places of an element: more than one where registers hold copies.
  placesOf(element) {
    const {layout} = layoutView.now;
    if (layout.kind === "memory") return [layouts.memoryPlace(layout, state.major, state.swizzle, element)];
    return Array.from({length: layouts.copies(layout)}, (_, copy) => layouts.place(layout, element, copy));
  },

  /// How the places of a layout are drawn: rows and columns of cells, and the cell of a place.
  frameOf(layout) {
    if (layout.kind === "registers")
      return {rows: 32 * layout.warps, columns: layout.registers, axes: ["lane", "register"],
              rowName: row => layout.warps > 1 ? `w${row >> 5} T${row & 31}` : `T${row}`, columnName: column => `r${column}`,
              cellOf: place => [32 * place.warp + place.lane, place.reg], order: place => place.bit,
              name: (row, column) => `${layout.warps > 1 ? `warp ${row >> 5}, ` : ""}lane ${row & 31}, register ${column}`};
    if (layout.kind === "rows")
      return {rows: layout.rows * layout.matrices, columns: 1, axes: ["lane", "address"], rowName: row => `T${row}`, columnName: () => "row",
              cellOf: place => [place.lane, 0], order: place => place.bit, name: row => `the row whose address lane ${row} holds`};
    return {rows: 0, columns: 8, axes: ["line", "chunk"],  // as many lines as the elements need
            rowName: row => `0x${(128 * row).toString(16)}`, columnName: column => `banks ${4 * column}-${4 * column + 3}`,
            cellOf: place => [place.address >> 7, place.address >> 4 & 7], order: place => 8 * place.address + place.bit,
            name: (row, column) => `the 16 bytes from 0x${(128 * row + 16 * column).toString(16)} on`};
  },

  hold(element) {
    const {frame, held} = layoutView.now;
    for (const place of layoutView.placesOf(element)) {
      const [row, column] = frame.cellOf(place), key = row * frame.columns + column;
      frame.rows = Math.max(frame.rows, row + 1);
      if (!held.has(key)) held.set(key, []);
      held.get(key).push({...element, order: frame.order(place), place});
    }
  },

  heldAt(row, column) {
    return layoutView.now.held.get(row * layoutView.now.frame.columns + column) || [];
  },

  colourOf([row, column]) {
    const {layout} = layoutView.now;
    if (layout.kind === "memory") return tables.colours[4 * column];
    return tables.colours[(layout.kind === "registers" && state.colour === "register" ? column : row) % 32];
  },

  elementContent() {
    const {layout, frame} = layoutView.now;
    return {rows: layout.rows, columns: layout.columns, axes: ["row", "column"], rowName: String, columnName: String,
            caption: `The matrix: where each element lies. ${layoutView.legend()}`,
            cell: (row, column) => {
              const element = {row, column, matrix: state.matrix}, place = layoutView.placesOf(element)[0];
              return {text: layoutView.shortPlace(place), colour: layoutView.colourOf(frame.cellOf(place)), label: layoutView.sentence(element)};
            }};
  },

  placeContent() {
    const {frame, layout} = layoutView.now;
    const captions = {registers: "The registers: which elements each holds", rows: "The lanes: the row whose address each holds",
                      memory: "Shared memory: which elements lie in 16 bytes"};
    return {...frame, caption: captions[layout.kind],
            cell: (row, column) => {
              const elements = layoutView.heldAt(row, column);
              return {text: layoutView.shortElements(elements), colour: elements.length ? layoutView.colourOf([row, column]) : "",
                      label: layoutView.holds(row, column)};
            }};
  },

  /// What the letters in the cells mean.
  legend() {
    const {layout} = layoutView.now, bit = layout.element_bits === layout.register_bits ? "" : " and lowest bit";
    if (layout.kind === "memory") return "0x: the address of its first byte; cells of a colour lie in the same four banks.";
    if (layout.kind === "rows") return "T: the lane that holds the row's address, with the lowest bit in the row.";
    const second = layout.element_bits + layout.payload_shift;
    const example = bit ? `; r0.${second} is ${layoutView.bits(second, layout.payload_bits)} of register 0` : "";
    return `${layout.warps > 1 ? "w: warp, " : ""}T: lane, r: register${bit}${example}.`;
  },

  // ---- In words --------------------------------------------------------------------------------------------------------------------

  shortPlace(place) {
    const {layout} = layoutView.now;
    if (layout.kind === "memory") return `0x${place.address.toString(16)}${layout.element_bits < 8 ? `.${place.bit}` : ""}`;
    if (layout.kind === "rows") return `T${place.lane} .${place.bit}`;
    const bit = layout.element_bits === layout.register_bits ? "" : `.${place.bit}`;
    return `${layout.warps > 1 ? `w${place.warp} ` : ""}T${place.lane}\nr${place.reg}${bit}`;
  },

  shortElements(elements) {
    const text = e => `${layoutView.now.layout.matrices > 1 ? `${e.matrix}:` : ""}${e.row},${e.column}`;
    if (elements.length <= 4) return elements.map(text).join(" ");
    return `${text(elements[0])} … ${text(elements[elements.length - 1])}`;
  },

  /// "bits 16 to 31", "bit 3"
  bits(first, count) {
    return count === 1 ? `bit ${first}` : `bits ${first} to ${first + count - 1}`;
  },

  /// "selector 1, row 9, column 2"
  elementName(element) {
    const {operand, layout} = layoutView.now;
    return `${layout.matrices > 1 ? `${operand.matrices[element.matrix]}, ` : ""}row ${element.row}, column ${element.column}`;
  },

  /// The sentence of `warpmat layout --row --column`.
  sentence(element) {
    const {layout} = layoutView.now, [place, ...copies] = layoutView.placesOf(element), name = layoutView.elementName(element);
    const bytes = layout.element_bits / 8, hex = number => `0x${number.toString(16)}`;
    if (layout.kind === "memory") {
      if (bytes < 1) return `${name}: bit ${place.bit} of byte ${hex(place.address)}`;
      return `${name}: ${bytes === 1 ? `byte ${hex(place.address)}` : `bytes ${hex(place.address)} to ${hex(place.address + bytes - 1)}`}`;
    }
    if (layout.kind === "rows") {
      const where = bytes % 1 !== 0 ? layoutView.bits(place.bit, layout.element_bits)
                    : bytes === 1   ? `byte ${place.bit / 8}`
                                    : `bytes ${place.bit / 8} to ${place.bit / 8 + bytes - 1}`;
      return `${name}: ${where} of the row whose address lane ${place.lane} holds`;
    }
    const warp = layout.warps > 1 ? `warp ${place.warp}, ` : "";
    const also = copies.map((copy, i) => `${i === 0 ? "; also in" : ","} register ${copy.reg}`).join("");
    return `${name}: ${warp}lane ${place.lane}, register ${place.reg}, ${layoutView.bits(place.bit, layout.payload_bits)}${also}`;
  },

  /// What a place holds: the way back.
  holds(row, column) {
    const {frame, layout} = layoutView.now, elements = layoutView.heldAt(row, column);
    if (elements.length === 0) return `${frame.name(row, column)}: nothing of this operand`;
    const list = elements.map(e => layoutView.elementName(e) + (layout.kind === "registers" && elements.length > 1
      ? ` (${layoutView.bits(e.place.bit, layout.payload_bits)})` : ""));
    return `${frame.name(row, column)}: ${list.join("; ")}`;
  },

  // ---- Pointing and choosing -------------------------------------------------------------------------------------------------------

  /// Tells of `element`, or of the chosen one, and marks it and what shares its place.
  tell(element) {
    const shown = element || {row: state.row, column: state.column, matrix: state.matrix};
    const cells = layoutView.placesOf(shown).map(place => layoutView.now.frame.cellOf(place));
    byId("sentence").textContent = layoutView.sentence(shown);
    byId("back").textContent = layoutView.holds(...cells[0]);
    layoutView.mark([shown], cells);
  },

  tellPlace(row, column) {
    if (row === undefined) return layoutView.tell(null);
    const elements = layoutView.heldAt(row, column);
    byId("sentence").textContent = layoutView.holds(row, column);
    byId("back").textContent = elements.length ? layoutView.sentence(elements[0]) : "";
    layoutView.mark(elements, [[row, column]]);
  },

  mark(elements, cells) {
    const inView = elements.filter(e => e.matrix === state.matrix);
    layoutView.elements.mark(inView.map(e => [e.row, e.column]), "marked");
    layoutView.places.mark(cells, "marked");
    const together = cells.flatMap(([row, column]) => layoutView.heldAt(row, column)).filter(e => e.matrix === state.matrix);
    layoutView.elements.mark(together.map(e => [e.row, e.column]), "together");
  },

  choose(element) {
    state.row = element.row;
    state.column = element.column;
    layoutView.elements.choose(element.row, element.column);
    layoutView.places.choose(...layoutView.now.frame.cellOf(layoutView.placesOf(element)[0]));
    layoutView.tell(null);
    layoutView.showCommands();
    state.write();
  },

  /// Chooses the first element that a place holds, which may be one of another matrix.
  choosePlace(row, column) {
    const [first] = layoutView.heldAt(row, column);
    if (!first) return layoutView.tellPlace(row, column);
    if (first.matrix !== state.matrix) {
      state.matrix = first.matrix;
      byId("matrix").value = state.matrix;
      layoutView.elements.show(layoutView.elementContent());
    }
    layoutView.choose(first);
    layoutView.places.choose(row, column);
    layoutView.tellPlace(row, column);
  },

  // ---- Around the grids ------------------------------------------------------------------------------------------------------------

  showKnowledge() {
    const {form} = layoutView.now;
    const hardware = tables.targets.find(target => target.name === state.target)?.hardware;
    const needs = `needs ${form.need.text} and PTX ${form.need.ptx}`;
    const has = state.target === "" || form.need.targets.includes(state.target);
    byId("needs").textContent = has ? `${form.opcode} ${needs}.` : `${state.target} has not got it: ${form.opcode} ${needs}.`;
    const body = byId("knowledge").tBodies[0];
    body.replaceChildren(...form.lowerings.map(([name, number, results]) => {
      const {machine, label, source} = tables.knowledge[number], line = make("tr");
      if (name === hardware) line.className = "chosen";
      const cards = tables.targets.find(target => target.hardware === name).cards;
      const chip = make("td");
      chip.append(make("span", label, {class: "label " + label.split(" ")[0], title: tables.labels[label.split(" ")[0]]}));
      line.append(make("th", name, {scope: "row"}), make("td", cards), make("td", machine), chip, make("td", source),
                  make("td", results ? results.toLocaleString("en") : ""));
      return line;
    }));
  },

  showNotation() {
    const {operand, layout} = layoutView.now;
    byId("notation").hidden = !layout.formulas;
    byId("formulas").textContent = layout.formulas || "";
    byId("cute").textContent = operand.cute || "";
    byId("linear").textContent = layout.linear_layout || "";
    const descriptor = layout.kind === "memory" ? layout.majors[state.major].swizzles[state.swizzle] : null;
    byId("descriptor").hidden = !descriptor;
    if (descriptor)
      byId("descriptor").textContent = `Matrix descriptor ${descriptor.descriptor}, of a compact matrix at address 0: leading byte offset ` +
        `${descriptor.leading}, stride byte offset ${descriptor.stride}, swizzle ${state.swizzle}${state.swizzle === "none" ? "" : " bytes"}.`;
  },

  showCommands() {
    const {form, operand, layout} = layoutView.now;
    const matrix = layout.matrices > 1 ? ` --matrix ${state.matrix}` : "";
    const memory = layout.kind === "memory" ? ` --major ${state.major} --swizzle ${state.swizzle}` : "";
    byId("layout-command").textContent = `warpmat layout ${form.opcode} --operand ${operand.name}${memory} --row ${state.row} --column ${state.column}${matrix}`;
  },
};
