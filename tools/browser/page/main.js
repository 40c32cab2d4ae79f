// The page as a whole: what is asked, the answer, and the address that says it.

import {Core, unpacked} from "live/core.js";
import {address, packed, unpack, usual} from "live/link.js";
import {Editor} from "live/editor.js";
import {Inputs, readPlaces} from "live/inputs.js";
import {Grids} from "live/grids.js";
import {showBanks} from "live/banks.js";
import {showOrigins} from "live/origins.js";

const {byId, fillSelect, make} = globalThis.page;
const gallery = JSON.parse(byId("gallery-data").textContent);
const page = {core: null, question: structuredClone(usual), answer: null, example: null, embed: false};

const editor = new Editor(byId("text"), byId("gutter"));
const inputs = new Inputs(byId("inputs"), () => { page.question.in = inputs.chosen; page.example = null; run(); });
let grids;

function say(text) {
  byId("sentence").textContent = text;
}

/// The question as the controls have it.
function read() {
  page.question.text = editor.text;
  for (const name of ["kind", "target", "against", "launch"]) page.question[name] = byId(name).value;
}

/// The controls as the question has it.
function write() {
  editor.text = page.question.text;
  for (const name of ["kind", "target", "against", "launch"]) byId(name).value = page.question[name];
  byId("launch-label").hidden = page.question.kind !== "kernel";
  byId("inputs-label").hidden = page.question.kind === "kernel";
  inputs.show([], page.question.in);
  const {title, question, answer, link} = page.example ?? {};
  byId("about").hidden = !page.example;
  byId("gallery").value = page.example?.name ?? "";
  if (!page.example) return;
  byId("about-title").textContent = title;
  byId("about-question").textContent = `${link}: ${question}`;
  byId("about-answer").textContent = answer;
}

async function writeAddress() {
  const parts = page.example ? {example: page.example.name} : {q: await packed(page.question)};
  history.replaceState(null, "", address(page.embed ? {...parts, embed: 1} : parts));
}

/// A finding as a button that leads to its line.
function finding(level, line, column, text) {
  const item = make("li", "", {class: level});
  const place = make("button", line ? `Line ${line}` : "Everywhere", {type: "button", class: "to-line"});
  place.disabled = !line;
  place.addEventListener("click", () => editor.go(line, column));
  item.append(make("strong", level), " ", place, " ", make("span", text, {class: "finding"}));
  return item;
}

/// What an answer finds wrong: [level, line, column, text].
function findingsOf(answer) {
  const found = (answer.errors ?? []).map(({line, column, message}) => ["error", line, column, message]);
  const report = (level, {text, place, notes}) => {
    found.push([level, place.ptx_line, 1, text.trim()]);
    for (const note of notes) if (note.place.ptx_line && note.place.ptx_line !== place.ptx_line) found.push(["warning", note.place.ptx_line, 1, note.text]);
  };
  if (answer.trap) report("error", answer.trap);
  for (const warned of answer.findings ?? []) report("warning", warned);
  for (const text of answer.warnings ?? []) found.push(["warning", Number(/^line (\d+)/.exec(text)?.[1] ?? 0), 1, text.replace(/^line \d+: warning: /, "")]);
  if (answer.refused) found.push(["warning", 0, 1, answer.refused]);
  return found;
}

function showFindings(found) {
  byId("findings").replaceChildren(...found.map(parts => finding(...parts)));
  const marks = new Map();  // errors before warnings
  for (const [level, line, , text] of found) if (line && (level === "error" || !marks.has(line))) marks.set(line, {line, level, text});
  editor.mark([...marks.values()]);
}

function showPlace() {
  const place = page.answer.places[Number(byId("place").value)];
  grids.show(place, page.question.target, page.question.against);
  byId("explanation").replaceChildren();
  byId("explain-hint").hidden = !(place.explains || page.question.kind === "kernel");
}

function showAnswer(answer, milliseconds) {
  page.answer = answer;
  showFindings(findingsOf(answer));
  const places = answer.places ?? [];
  byId("result").hidden = places.length === 0;
  byId("evidence").textContent = answer.evidence ?? "";
  byId("status").textContent = answer.errors ? "The text is not executed" : answer.trap ? "Stopped by an error" : `Executed in ${Math.round(milliseconds)} ms`;
  byId("printed").textContent = answer.printed ?? "";
  byId("printed").hidden = !answer.printed;
  if (page.question.kind === "list") inputs.show(readPlaces(places), page.question.in);
  showBanks(byId("banks"), answer.banks ?? {shared: []}, line => editor.go(line));
  byId("banks-section").hidden = byId("banks").childElementCount === 0;
  byId("explanation").replaceChildren();
  if (places.length === 0) return;
  const names = places.map(({name, shape, type, differs}, index) => [index, `${name} (${shape.join(" × ")} ${type})${differs?.length ? `, ${differs.length} differ` : ""}`]);
  const {focus} = page.question, wanted = /^(.+)\[(\d+),(\d+)\]$/.exec(focus);
  const chosen = wanted ? places.findIndex(place => place.name === wanted[1]) : places.findLastIndex(place => place.written ?? true);
  fillSelect(byId("place"), names, String(Math.max(0, chosen)));
  showPlace();
  if (!wanted || chosen < 0) return;
  grids.focus(Number(wanted[2]), Number(wanted[3]));
  const index = Number(wanted[2]) * grids.columns + Number(wanted[3]);
  say(grids.sentence(index));
  return explain(places[chosen], index);
}

async function run() {
  read();
  byId("status").textContent = "Executing …";
  byId("problem").textContent = "";
  await new Promise(resolve => setTimeout(resolve));  // so that the word is seen
  const begun = performance.now();
  try {
    const answer = await page.core.ask({do: "run", ...page.question});
    await showAnswer(answer, performance.now() - begun);
  } catch (problem) {
    showFindings([]);
    byId("result").hidden = true;
    byId("banks-section").hidden = true;
    byId("status").textContent = "Not executed";
    byId("problem").textContent = problem.message;
  }
  await writeAddress();
  document.documentElement.dataset.ready = String(Number(document.documentElement.dataset.ready ?? 0) + 1);
}

async function explain(place, index) {
  const row = Math.floor(index / grids.columns), column = index % grids.columns, box = byId("explanation");
  const kernel = page.question.kind === "kernel";
  if (!kernel && !place.explains) return;
  page.question.focus = `${place.name}[${row},${column}]`;
  try {
    if (kernel) {
      const {ways} = await page.core.ask({do: "explain", ...page.question, why: page.question.focus});
      box.replaceChildren();
      if (ways.length) showOrigins(box, ways[0], {name: place.name, row, column}, page.answer.places);
      else box.append(make("p", `No block stores ${page.question.focus}.`));
    } else {
      const {html} = await page.core.ask({do: "explain", ...page.question, statement: place.statement, element: place.at[index].slice(3)});
      box.innerHTML = html;  // the core has escaped what comes from the text
    }
  } catch (problem) {
    box.replaceChildren(make("p", problem.message));
  }
  await writeAddress();
}

/// Asks what the address says.
async function follow() {
  const said = new URLSearchParams(location.hash.slice(1));
  page.embed = said.has("embed");
  document.documentElement.classList.toggle("embed", page.embed);
  page.example = gallery.find(example => example.name === (said.get("example") ?? (said.has("q") ? "" : gallery[0].name))) ?? null;
  try {
    page.question = page.example ? {...structuredClone(usual), ...questionOf(page.example)} : said.has("q") ? await unpack(said.get("q")) : structuredClone(usual);
  } catch (problem) {
    page.question = structuredClone(usual);
    write();
    byId("problem").textContent = problem.message;
    byId("status").textContent = "Not executed";
    return;
  }
  write();
  await run();
}

/// A launch.json with a line for each buffer and parameter.
function launchText(launch) {
  const value = item => Array.isArray(item) ? `[\n    ${item.map(part => JSON.stringify(part)).join(",\n    ")}\n  ]` : JSON.stringify(item);
  return `{\n${Object.entries(launch).map(([key, item]) => `  "${key}": ${value(item)}`).join(",\n")}\n}`;
}

/// An example's question: its lines and its launch as text.
function questionOf({ask}) {
  return {...ask, text: ask.text.join("\n"), launch: ask.launch ? launchText(ask.launch) : ""};
}

function changed() {
  page.example = null;
  page.question.focus = "";
  read();
  write();
  byId("gallery").value = "";
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    byId("status").textContent = `Copied: ${button.textContent.toLowerCase()}`;
  } catch {
    prompt("Copy this:", text);
  }
}

async function start() {
  page.core = await Core.load(await unpacked(byId("core-data").textContent));
  const {version, targets, colours} = await page.core.ask({do: "targets"});
  const cards = targets.map(({name, cards}) => [name, cards ? `${name} (${cards})` : name]);
  fillSelect(byId("target"), cards, usual.target);
  fillSelect(byId("against"), [["", "no other card"], ...cards], "");
  byId("gallery").append(...gallery.map(({name, title}) => make("option", title, {value: name})));
  byId("version").textContent = `warpmat ${version}`;
  grids = new Grids(colours.map(colour => `#${colour}`), {explain, say});

  byId("run").addEventListener("click", run);
  for (const name of ["kind", "target", "against"]) byId(name).addEventListener("change", () => { changed(); run(); });
  for (const name of ["text", "launch"]) byId(name).addEventListener("input", () => { page.example = null; page.question.focus = ""; byId("about").hidden = true; });
  byId("gallery").addEventListener("change", event => { location.hash = new URLSearchParams({example: event.target.value}); });
  byId("place").addEventListener("change", () => { page.question.focus = ""; showPlace(); });
  byId("copy").addEventListener("click", async event => { read(); copy(address({q: await packed(page.question)}), event.target); });
  byId("copy-embed").addEventListener("click", async event => {
    read();
    copy(`<iframe src="${address({q: await packed(page.question), embed: 1})}" width="100%" height="600" title="warpmat"></iframe>`, event.target);
  });
  addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  });
  addEventListener("hashchange", follow);
  await follow();
  document.documentElement.dataset.started = String(Math.round(performance.now()));
}

start().catch(problem => { byId("problem").textContent = `This browser cannot execute the page: ${problem.message}`; });
