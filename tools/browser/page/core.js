// The core: WebAssembly that answers questions in JSON (tools/browser/README.md). It has no files and no threads; what it imports of an operating
// system is a clock.

const unsupported = 52;  // WASI's ENOSYS

/// What the module imports: each function says that it is not supported, but those that are here.
function imports(module, memory) {
  const own = {
    clock_time_get: (clock, precision, at) => {
      new DataView(memory().buffer).setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    emscripten_notify_memory_growth: () => {},
    proc_exit: code => { throw new Error(`the core has ended with ${code}`); },
  };
  const all = {};
  for (const {module: from, name, kind} of WebAssembly.Module.imports(module))
    if (kind === "function") (all[from] ??= {})[name] = own[name] ?? (() => unsupported);
  return all;
}

export class Core {
  /// `bytes` of warpmat.wasm.
  static async load(bytes) {
    const core = new Core();
    core.module = await WebAssembly.compile(bytes);
    await core.start();
    return core;
  }

  async start() {
    const instance = await WebAssembly.instantiate(this.module, imports(this.module, () => this.exports.memory));
    this.exports = instance.exports;
    this.exports._initialize();
  }

  /// The answer to a question. Throws an Error in a sentence for what the answer calls an error.
  async ask(question) {
    let text;
    try {
      text = this.answer(JSON.stringify(question));
    } catch (problem) {
      await this.start();  // its memory is in no known state
      throw new Error(`the core has failed: ${problem.message}; it begins anew`);
    }
    const answer = JSON.parse(text);
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  answer(question) {
    const {memory, malloc, free, warpmat_ask, warpmat_answer_bytes} = this.exports;
    const bytes = new TextEncoder().encode(question);
    const place = malloc(bytes.length);
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    const at = warpmat_ask(place, bytes.length);
    free(place);
    return new TextDecoder().decode(new Uint8Array(memory.buffer, at, warpmat_answer_bytes()));
  }
}

/// The bytes of base64 text that deflate has packed.
export async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).arrayBuffer());
}
