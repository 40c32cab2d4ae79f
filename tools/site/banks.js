"use strict";
// Bank conflicts of a tile in shared memory: the rule of warpmat/explain.h and the layouts that `warpmat swizzle` tries. A
// test compares both with that command. Nothing here knows the page.
//
// A tile is {rows, columns, bits}, `bits` of an element. An access is one of tables.stores and tables.loads. A layout is {bits, base, shift,
// pad}: CuTe's Swizzle<bits, base, shift> on byte addresses, and bytes behind each row.

const banks = {
  count: 32,

  rowBytes(tile) {
    return tile.columns * tile.bits / 8;
  },

  /// How many instructions access the whole tile; 0 where they do not divide it.
  instructions(tile, access) {
    const across = access.matrices === 4 ? 2 : 1, rows = Math.min(access.matrices * 8, 16), bytes = banks.rowBytes(tile);
    if (bytes % (access.bytes * across) !== 0) return 0;
    if (access.matrices > 0) return tile.rows % rows === 0 ? tile.rows * bytes / 16 / (8 * access.matrices) : 0;
    return tile.rows * bytes % (32 * access.bytes) === 0 ? tile.rows * bytes / access.bytes / 32 : 0;
  },

  /// Row and chunk of the access's bytes that `lane` accesses in instruction `number`.
  spot(tile, access, number, lane) {
    if (access.matrices > 0) {
      const rows = Math.min(access.matrices * 8, 16), across = access.matrices === 4 ? 2 : 1, down = tile.rows / rows;
      return {row: number % down * rows + lane % rows, chunk: Math.floor(number / down) * across + Math.floor(lane / rows)};
    }
    const index = number * 32 + lane, chunks = banks.rowBytes(tile) / access.bytes;
    return access.column ? {row: index % tile.rows, chunk: Math.floor(index / tile.rows)}
                         : {row: Math.floor(index / chunks), chunk: index % chunks};
  },

  /// The offset of a byte of the tile.
  offset(tile, layout, row, byte) {
    const linear = row * (banks.rowBytes(tile) + layout.pad) + byte;
    return linear ^ (linear >> layout.shift & ((1 << layout.bits) - 1) << layout.base);
  },

  /// The address of each lane that takes part.
  addresses(tile, access, layout, number) {
    const lanes = access.matrices > 0 ? access.matrices * 8 : 32;
    return Array.from({length: lanes}, (_, lane) => {
      const {row, chunk} = banks.spot(tile, access, number, lane);
      return banks.offset(tile, layout, row, chunk * access.bytes);
    });
  },

  /// Whether every lane accesses what lane number ^ bit accesses.
  inPairs(addresses, bit) {
    return addresses.every((address, lane) => addresses[lane ^ bit] === address);
  },

  /// How many lanes share wavefronts.
  phaseLanes(access, addresses) {
    const atOnce = 128 / Math.max(access.bytes, 4);
    const wide = access.kind === "load" && access.bytes > 4;
    return wide && (banks.inPairs(addresses, 1) || banks.inPairs(addresses, 2)) ? 2 * atOnce : atOnce;
  },

  /// A phase: its lanes, what each bank is asked for, and the wavefronts it takes.
  phase(access, addresses, first, last) {
    const words = new Map();  // by number of the word: the lanes that access it
    for (let lane = first; lane < last; ++lane)
      for (let word = addresses[lane] >> 2; word <= addresses[lane] + access.bytes - 1 >> 2; ++word) {
        if (!words.has(word)) words.set(word, []);
        words.get(word).push(lane);
      }
    const asked = new Array(banks.count).fill(0), lanes = Array.from(asked, () => new Set());
    for (const [word, users] of words) {
      asked[word % banks.count] += access.kind === "copy" ? users.length : 1;
      for (const lane of users) lanes[word % banks.count].add(lane);
    }
    return {first, last, asked, lanes, wavefronts: Math.max(...asked)};
  },

  phases(access, addresses) {
    const size = Math.min(banks.phaseLanes(access, addresses), 32), phases = [];
    for (let first = 0; first < addresses.length; first += size)
      phases.push(banks.phase(access, addresses, first, Math.min(first + size, addresses.length)));
    return phases;
  },

  /// The wavefronts that an access of the whole tile takes, and takes at least.
  wavefronts(tile, access, layout) {
    let taken = 0, least = 0;
    for (let number = 0; number < banks.instructions(tile, access); ++number)
      for (const phase of banks.phases(access, banks.addresses(tile, access, layout, number))) {
        taken += phase.wavefronts;
        least += 1;
      }
    return {taken, least};
  },

  /// All layouts that `warpmat swizzle` tries, in its order.
  candidates(tile, accesses) {
    const widest = Math.max(...accesses.map(access => access.bytes)), base = Math.log2(widest);
    const bytes = tile.rows * banks.rowBytes(tile), lastBit = 32 - Math.clz32(bytes - 1), found = [{bits: 0, base: 0, shift: 0, pad: 0}];
    const add = (bits, shift) => {
      if (base + shift + bits <= lastBit && bytes % (1 << base + bits) === 0) found.push({bits, base, shift, pad: 0});
    };
    for (let bits = 1; bits <= 3; ++bits) add(bits, 3);
    for (let bits = 1; bits <= 5; ++bits) for (let shift = bits; shift <= lastBit; ++shift) if (shift !== 3) add(bits, shift);
    for (let pad = widest; pad <= 64; pad *= 2) found.push({bits: 0, base: 0, shift: 0, pad});
    return found;
  },

  /// The one with fewest wavefronts, then with least memory, then the first.
  best(tile, accesses) {
    const tried = banks.candidates(tile, accesses).map(layout => ({
      layout, taken: accesses.reduce((sum, access) => sum + banks.wavefronts(tile, access, layout).taken, 0)}));
    return tried.reduce((best, next) => next.taken < best.taken || (next.taken === best.taken && next.layout.pad < best.layout.pad) ? next : best).layout;
  },

  /// The layout's name, as `warpmat run --layout` takes it.
  name(tile, layout) {
    if (layout.bits > 0) return `swizzle<${layout.bits},${layout.base},${layout.shift}${layout.pad ? `,${banks.rowBytes(tile) + layout.pad}` : ""}>`;
    return layout.pad ? `padded<${banks.rowBytes(tile) + layout.pad}>` : "rows";
  },

  /// The offset in bytes of an element, in C.
  formula(tile, layout) {
    const column = tile.bits % 8 === 0 ? `column * ${tile.bits / 8}` : `column * ${tile.bits} / 8`;
    const mask = ((1 << layout.bits) - 1) << layout.base;
    const swizzle = layout.bits > 0 ? ` offset ^= (offset >> ${layout.shift}) & 0x${mask.toString(16)};` : "";
    return `offset = row * ${banks.rowBytes(tile) + layout.pad} + ${column};${swizzle}`;
  },
};
