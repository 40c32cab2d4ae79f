// Runs the core in Node: live_in_node.mjs questions WARPMAT_WASM < questions, a line each, or
// live_in_node.mjs recordings REPLAY_WASM WARPS FILE.jsonl.gz...
// The first prints an answer a line, as warpmat_ask does, and on standard error the milliseconds of each; the second a line for each file.

import fs from "node:fs";
import path from "node:path";
import {gunzipSync} from "node:zlib";
import {fileURLToPath, pathToFileURL} from "node:url";

const page = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../tools/browser/page");
const {Core} = await import(`data:text/javascript;base64,${fs.readFileSync(path.join(page, "core.js")).toString("base64")}`);
const [what, file, ...rest] = process.argv.slice(2);
const begun = performance.now();
const core = await Core.load(fs.readFileSync(file));
console.error(`loaded ${Math.round(performance.now() - begun)}`);

if (what === "questions") {
  for (const question of fs.readFileSync(0, "utf8").split("\n").filter(line => line)) {
    const start = performance.now();
    console.log(core.answer(question));
    console.error(Math.round(performance.now() - start));
  }
} else {
  const {memory, malloc, free, warpmat_replay, warpmat_answer_bytes} = core.exports;
  for (const name of rest.slice(1)) {
    const bytes = gunzipSync(fs.readFileSync(name)), place = malloc(bytes.length);
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    const at = warpmat_replay(place, bytes.length, Number(rest[0]));
    free(place);
    console.log(`${path.basename(name)}: ${new TextDecoder().decode(new Uint8Array(memory.buffer, at, warpmat_answer_bytes()))}`);
  }
}
