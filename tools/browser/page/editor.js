// The text of a list or a kernel, with numbers of lines and marks beside them.

const {make} = globalThis.page;

export class Editor {
  constructor(area, gutter) {
    this.area = area;
    this.gutter = gutter;
    this.marks = new Map();
    area.addEventListener("input", () => this.mark([]));
    area.addEventListener("scroll", () => { gutter.scrollTop = area.scrollTop; });
  }

  get text() { return this.area.value; }
  set text(text) {
    this.area.value = text;
    this.mark([]);
  }

  /// Shows [{line, level, text}] beside their lines: level is "error" or "warning".
  mark(marks) {
    this.marks = new Map(marks.map(mark => [mark.line, mark]));
    const count = this.area.value.split("\n").length;
    this.gutter.replaceChildren(...Array.from({length: count}, (_, index) => {
      const mark = this.marks.get(index + 1);
      return make("div", mark ? `${mark.level === "error" ? "✖" : "▲"} ${index + 1}` : String(index + 1), mark ? {class: mark.level, title: mark.text} : {});
    }));
    this.gutter.scrollTop = this.area.scrollTop;
  }

  /// Puts the caret at a place, from 1 on.
  go(line, column = 1) {
    const lines = this.area.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const end = start + (lines[line - 1] ?? "").length;
    this.area.focus();
    this.area.setSelectionRange(Math.min(start + column - 1, end), end);
    this.area.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(this.area).lineHeight));
  }
}
