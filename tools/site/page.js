"use strict";
// The page as a whole: which view is shown, and its address.

const views = {layout: layoutView, banks: bankView};

function showPage() {
  for (const name of Object.keys(views)) {
    byId(name + "-view").hidden = name !== state.view;
    const link = byId(name + "-link");
    if (name === state.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  views[state.view].show();
}

for (const [name, view] of Object.entries(views)) {
  view.start();
  byId(name + "-link").addEventListener("click", event => {
    event.preventDefault();
    state.view = name;
    showPage();
  });
}
// Says which tables are wider than the window, as often as that changes.
const widths = new ResizeObserver(() => {
  for (const box of document.querySelectorAll(".scroll")) box.classList.toggle("wider", box.scrollWidth > box.clientWidth);
});
for (const box of document.querySelectorAll(".scroll, .scroll > table")) widths.observe(box);
byId("version").textContent = `warpmat ${tables.version}`;
addEventListener("hashchange", () => {
  state.read();
  showPage();
});
state.read();
showPage();
