"use strict";
// A table of cells that can be pointed at, and walked by the arrow keys. Of a large one a window is shown, which two selects choose.

class Grid {
  /// `id` of the <table>; its selects are `id`-from-row and `id`-from-column, in labels of their own. `onPoint(row, column)` is called for the cell
  /// under the mouse, or with nothing when the mouse leaves; `onChoose(row, column)` for the cell that is clicked or reached by keys.
  constructor(id, window, {onPoint, onChoose}) {
    this.table = byId(id);
    this.selects = {row: byId(id + "-from-row"), column: byId(id + "-from-column")};
    this.window = window;
    this.from = {row: 0, column: 0};
    this.onChoose = onChoose;
    const cellOf = event => event.target.closest("td");
    const tell = (cell, action) => cell && action(Number(cell.dataset.row), Number(cell.dataset.column));
    this.table.addEventListener("mouseover", event => tell(cellOf(event), onPoint));
    this.table.addEventListener("mouseleave", () => onPoint());
    this.table.addEventListener("click", event => tell(cellOf(event), (row, column) => this.reach(row, column)));
    this.table.addEventListener("keydown", event => this.walk(event));
    for (const axis of ["row", "column"])
      this.selects[axis].addEventListener("change", () => {
        this.from[axis] = Number(this.selects[axis].value);
        this.draw();
      });
  }

  /// Shows `content`: rows, columns, the names of both by number (rowName, columnName), what they count (axes: two words), a caption, and
  /// cell(row, column) with text, colour, label, and `used` for what is to stand out.
  show(content) {
    this.content = content;
    this.from = {row: 0, column: 0};
    this.chosen = null;
    this.draw();
  }

  /// Chooses a cell and brings it into view; no event follows.
  choose(row, column) {
    this.chosen = {row, column};
    const from = {row: row - row % this.window.rows, column: column - column % this.window.columns};
    if (from.row !== this.from.row || from.column !== this.from.column) {
      this.from = from;
      this.draw();
    }
    for (const cell of this.table.querySelectorAll("td[tabindex='0']")) cell.tabIndex = -1;
    const cell = this.cell(row, column);
    if (cell) cell.tabIndex = 0;
    return cell;
  }

  /// Marks cells, [row, column] each, with a class, and no others.
  mark(cells, name) {
    for (const cell of this.table.querySelectorAll("." + name)) cell.classList.remove(name);
    for (const [row, column] of cells) this.cell(row, column)?.classList.add(name);
  }

  cell(row, column) {
    return this.table.rows[row - this.from.row + 1]?.cells[column - this.from.column + 1];
  }

  reach(row, column) {
    this.choose(row, column)?.focus();
    this.onChoose(row, column);
  }

  walk(event) {
    if (!this.chosen || event.ctrlKey || event.altKey || event.metaKey) return;
    const steps = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -1e5], End: [0, 1e5],
                   PageUp: [-this.window.rows, 0], PageDown: [this.window.rows, 0]};
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    this.reach(clamped(this.chosen.row + step[0], 0, this.content.rows - 1),
               clamped(this.chosen.column + step[1], 0, this.content.columns - 1));
  }

  draw() {
    const {rows, columns, rowName, columnName, axes, caption, cell} = this.content;
    this.drawSelect("row", rows, this.window.rows, axes[0]);
    this.drawSelect("column", columns, this.window.columns, axes[1]);
    const lastRow = Math.min(this.from.row + this.window.rows, rows), lastColumn = Math.min(this.from.column + this.window.columns, columns);
    const body = document.createElement("tbody"), head = document.createElement("thead").insertRow();
    head.append(make("th", "", {"aria-label": axes.join(" and ")}));
    for (let column = this.from.column; column < lastColumn; ++column) head.append(make("th", columnName(column), {scope: "col"}));
    for (let row = this.from.row; row < lastRow; ++row) {
      const line = body.insertRow();
      line.append(make("th", rowName(row), {scope: "row"}));
      for (let column = this.from.column; column < lastColumn; ++column) line.append(Grid.drawCell(row, column, cell(row, column)));
    }
    const title = make("caption");
    title.append(make("span", caption));
    this.table.replaceChildren(title, head.parentElement, body);
  }

  static drawCell(row, column, {text, colour, label, used = false}) {
    const cell = make("td", text, {role: "gridcell", tabindex: -1, "aria-label": label});
    cell.classList.toggle("used", used);
    cell.dataset.row = row;
    cell.dataset.column = column;
    if (colour) cell.style.backgroundColor = colour;
    return cell;
  }

  /// "row 0 to 63" and so on; hidden where one window has all.
  drawSelect(axis, count, size, word) {
    const choices = [];
    for (let first = 0; first < count; first += size) choices.push([first, `${word} ${first} to ${Math.min(first + size, count) - 1}`]);
    fillSelect(this.selects[axis], choices, this.from[axis]);
    this.selects[axis].closest("label").hidden = choices.length === 1;
  }
}
