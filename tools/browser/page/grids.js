// A place as a matrix, and beside it as registers: what is under the cursor in one is marked in the other.

const {Grid, make} = globalThis.page;

const shown = (text, length = 9) => text.length > length ? text.slice(0, length - 1) + "…" : text;

export class Grids {
  /// `colours` by lane; `explain(place, index)` for an element that is chosen; `say(text)` what is under the cursor.
  constructor(colours, {explain, say}) {
    Object.assign(this, {colours, explain, say});
    this.matrix = new Grid("matrix", {rows: 64, columns: 32}, {onPoint: (row, column) => this.point(row, column), onChoose: (row, column) => this.choose(row, column)});
    this.lanes = new Grid("lanes", {rows: 32, columns: 16}, {onPoint: (lane, register) => this.pointLane(lane, register), onChoose: (lane, register) => this.pointLane(lane, register)});
  }

  /// Shows a place of an answer; `target` and `against` are the cards' names.
  show(place, target, against) {
    Object.assign(this, {place, target, against});
    this.columns = place.shape.length === 2 ? place.shape[1] : Math.min(32, place.elements.length);
    this.rows = Math.ceil(place.elements.length / this.columns);
    this.differs = new Set(place.differs ?? []);
    this.matrix.show({
      rows: this.rows, columns: this.columns, axes: ["row", "column"], rowName: String, columnName: String,
      caption: `${place.name}: ${place.shape.join(" × ")} ${place.type}${this.differs.size ? `; ${this.differs.size} differ on ${against}` : ""}`,
      cell: (row, column) => this.element(row * this.columns + column),
    });
    this.matrix.choose(0, 0);
    this.showLanes();
  }

  element(index) {
    const {place} = this;
    if (index >= place.elements.length) return {text: "", label: "nothing"};
    const text = place.elements[index], differs = this.differs.has(index);
    return {text: differs ? `${shown(text, 13)}\n≠ ${shown(place.other[index], 13)}` : shown(text), used: differs, colour: place.at && this.colours[place.at[index][0]], label: this.sentence(index)};
  }

  sentence(index) {
    const {place} = this, row = Math.floor(index / this.columns), column = index % this.columns;
    let text = `${place.name}[${row},${column}] = ${place.elements[index]} (${place.bits[index]})`;
    if (place.at) text += `: lane ${place.at[index][0]}, register ${place.registers[place.at[index][1]]}, from bit ${place.at[index][2]}`;
    if (this.differs.has(index)) text += `; on ${this.against} ${place.other[index]}`;
    return text;
  }

  showLanes() {
    const {place} = this;
    this.lanes.table.closest(".scroll").hidden = !place.at;
    if (!place.at) return;
    this.held = new Map();  // "lane,register" to the elements there
    place.at.forEach(([lane, register], index) => {
      const key = `${lane},${register}`;
      this.held.set(key, [...(this.held.get(key) ?? []), index]);
    });
    for (const elements of this.held.values()) elements.sort((a, b) => place.at[a][2] - place.at[b][2]);
    this.lanes.show({
      rows: 32, columns: place.registers.length, axes: ["lane", "register"], rowName: String, columnName: register => place.registers[register],
      caption: "The same by lane and register",
      cell: (lane, register) => {
        const elements = this.held.get(`${lane},${register}`) ?? [];
        return {text: elements.map(index => shown(place.elements[index], 7)).join(" ") || "·", colour: elements.length ? this.colours[lane] : undefined,
                used: elements.some(index => this.differs.has(index)), label: elements.map(index => this.sentence(index)).join("; ") || `lane ${lane}, ${place.registers[register]}: no element`};
      },
    });
    this.lanes.choose(0, 0);
  }

  point(row, column) {
    const index = row === undefined ? -1 : row * this.columns + column;
    this.lanes.mark(index >= 0 && this.place.at ? [this.place.at[index].slice(0, 2)] : [], "marked");
    if (index >= 0 && index < this.place.elements.length) this.say(this.sentence(index));
  }

  pointLane(lane, register) {
    const elements = lane === undefined ? [] : this.held?.get(`${lane},${register}`) ?? [];
    this.matrix.mark(elements.map(index => [Math.floor(index / this.columns), index % this.columns]), "marked");
    if (elements.length) this.say(elements.map(index => this.sentence(index)).join("; "));
  }

  choose(row, column) {
    this.point(row, column);
    const index = row * this.columns + column;
    if (index < this.place.elements.length) this.explain(this.place, index);
  }

  /// Brings an element of the shown place into view and marks it.
  focus(row, column) {
    this.matrix.choose(row, column);
    this.matrix.mark([[row, column]], "together");
  }
}
