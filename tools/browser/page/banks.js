// Shared memory as banks: of each statement its worst access, a row for each phase.

const {make} = globalThis.page;

const word = count => count === 0 ? "·" : String(count);

/// The picture of one access: how many words each bank is asked for in each phase.
function picture(line) {
  const table = make("table", "", {class: "banks"});
  const head = table.createTHead().insertRow();
  head.append(make("th", "phase", {scope: "col"}), ...Array.from({length: 32}, (_, bank) => make("th", String(bank), {scope: "col"})));
  line.worst.phases.forEach((phase, number) => {
    const row = table.createTBody().insertRow(), lanes = Array.from({length: 32}, () => []);
    for (const asked of phase.words) lanes[asked.bank].push(asked);
    row.append(make("th", String(number), {scope: "row"}));
    for (const [bank, words] of lanes.entries())
      row.append(make("td", word(words.length), {class: words.length > 1 ? "collides" : words.length ? "asked" : "",
                                                 title: words.map(asked => `bank ${bank}, address ${asked.address}: lanes ${asked.lanes}`).join("\n")}));
  });
  return table;
}

/// Shows what each statement's accesses to shared memory take; `go(line)` for a click on a line.
export function showBanks(box, banks, go) {
  box.replaceChildren();
  for (const line of banks.shared) {
    const times = line.wavefronts / line.least;
    const title = make("button", `Line ${line.line}: ${line.statement}`, {type: "button", class: "to-line"});
    title.addEventListener("click", () => go(line.line));
    const text = make("p");
    text.append(title, ` ${line.wavefronts} wavefronts, ${line.least} without conflicts${times > 1 ? ` (${times.toFixed(1)} times as many)` : ""}; the rule is ${line.rule}`);
    const scroll = make("div", "", {class: "scroll", tabindex: 0, role: "region", "aria-label": `Banks of line ${line.line}`});
    scroll.append(picture(line));
    box.append(text, scroll);
  }
}
