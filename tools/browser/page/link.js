// What is asked, and the page's address, which holds all of it: #q=... is the question, packed; #example=NAME one of the gallery; &embed=1 leaves the
// controls out.

export const usual = {kind: "list", target: "sm_90a", against: "", text: "", in: {}, layouts: [], launch: "", focus: ""};

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/// The question as text of an address.
export async function packed(question) {
  const said = Object.fromEntries(Object.entries(question).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(usual[key])));
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(said)));
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/// The inverse. Throws an Error where the text is another.
export async function unpack(text) {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), letter => letter.charCodeAt(0));
    const said = JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes)));
    for (const [key, value] of Object.entries(said))
      if (!(key in usual) || typeof value !== typeof usual[key]) throw new Error(key);
    return {...structuredClone(usual), ...said};
  } catch {
    throw new Error("the address is cut off or damaged: this link holds no question");
  }
}

export function address(parts) {
  return `${location.href.split("#")[0]}#${new URLSearchParams(parts)}`;
}
