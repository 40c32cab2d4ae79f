// Where an element of a product comes from: arrows from the element to its sources in the two factors.

const {make} = globalThis.page;
const space = "http://www.w3.org/2000/svg";
const gap = 36;

function svg(tag, attributes, text) {
  const element = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.append(Object.assign(document.createElementNS(space, "title"), {textContent: text}));
  return element;
}

/// The places of C, A and B in the picture: A at the left of C, B above it, each as its buffer has it.
function arrange(c, a, b) {
  const most = Math.max(c.shape[0] + b.shape[0], c.shape[1] + a.shape[1]);
  const size = Math.max(2, Math.min(14, Math.floor(640 / most)));
  const left = a.shape[1] * size + gap, top = b.shape[0] * size + 2 * gap;
  return {size, width: left + Math.max(c.shape[1], b.shape[1]) * size + 8, height: top + Math.max(c.shape[0], a.shape[0]) * size + 8,
          at: {[c.name]: [left, top], [a.name]: [4, top], [b.name]: [left, gap]}};
}

function drawMatrix(picture, place, {size, at}) {
  const [x, y] = at[place.name];
  picture.append(svg("rect", {x, y, width: place.shape[1] * size, height: place.shape[0] * size, class: "matrix"}));
  const text = svg("text", {x, y: y - 4, class: "name"});
  text.textContent = place.name;
  picture.append(text);
}

/// Where the way from a point to the middle of a box meets the box.
function edge([x, y], box) {
  const middle = [box.x + box.width / 2, box.y + box.height / 2], way = [x - middle[0], y - middle[1]];
  const part = Math.min(1, Math.abs(box.width / 2 / way[0] || Infinity), Math.abs(box.height / 2 / way[1] || Infinity));
  return [middle[0] + way[0] * part, middle[1] + way[1] * part];
}

function drawSource(picture, from, source, {size, at}) {
  const [x, y] = at[source.matrix];
  const [r0, r1] = [source.first[0], source.last[0]].sort((p, q) => p - q), [c0, c1] = [source.first[1], source.last[1]].sort((p, q) => p - q);
  const box = {x: x + c0 * size, y: y + r0 * size, width: (c1 - c0 + 1) * size, height: (r1 - r0 + 1) * size};
  const text = `${source.matrix}[${source.first}] to ${source.matrix}[${source.last}]: ${source.way}`;
  const [x2, y2] = edge(from, box);
  picture.append(svg("line", {x1: from[0], y1: from[1], x2, y2, class: "arrow", "marker-end": "url(#head)"}));
  picture.append(svg("rect", {...box, class: "source"}, text));
}

/// Draws the way of element [row, column] of `c` into `box`; `places` are the buffers of the launch.
export function showOrigins(box, way, {name, row, column}, places) {
  box.replaceChildren();
  const c = places.find(place => place.name === name);
  const sources = way.steps.flatMap(step => step.sources).filter(source => source.matrix);
  const [a, b] = [...new Set(sources.map(source => source.matrix))].map(found => places.find(place => place.name === found));
  if (a && b && [a, b, c].every(place => place.shape.length === 2)) {
    const layout = arrange(c, a, b);
    const picture = svg("svg", {viewBox: `0 0 ${layout.width} ${layout.height}`, role: "img", class: "origins",
                                "aria-label": `${name}[${row},${column}] and the elements of ${a.name} and ${b.name} that it is formed of`});
    picture.style.maxWidth = `${layout.width}px`;
    const marker = svg("marker", {id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto-start-reverse"});
    marker.append(svg("path", {d: "M0 0 L8 4 L0 8 z", class: "head"}));
    picture.append(marker);
    for (const place of [c, a, b]) drawMatrix(picture, place, layout);
    const [x, y] = layout.at[c.name], {size} = layout, centre = [x + (column + 0.5) * size, y + (row + 0.5) * size];
    for (const source of sources) drawSource(picture, centre, source, layout);
    picture.append(svg("rect", {x: x + column * size, y: y + row * size, width: size, height: size, class: "element"}, `${name}[${row},${column}]`));
    box.append(picture);
  }
  if (way.parting) box.append(make("p", way.parting));
  box.append(make("pre", way.text, {tabindex: 0, "aria-label": "The way of the element"}));
}
