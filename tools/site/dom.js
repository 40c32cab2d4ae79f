"use strict";
// Elements of a page.

/// The nearest number from `least` to `most`.
function clamped(number, least, most) {
  return Math.min(Math.max(number, least), most);
}

function byId(id) {
  return document.getElementById(id);
}

/// An element with text and attributes.
function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/// Fills a <select> with [value, text] pairs and chooses `value`, else the first. Returns what is chosen.
function fillSelect(select, choices, value) {
  select.replaceChildren(...choices.map(([choice, text]) => make("option", text, {value: choice})));
  select.value = choices.some(([choice]) => String(choice) === String(value)) ? value : choices[0][0];
  return select.value;
}
