// values of marks: pointer, touch, and arrow keys in the focused picture
const tip = document.getElementById("tip");
let lit = null;
const unlight = () => { if (lit) lit.classList.remove("on"); lit = null; tip.hidden = true; };
const place = () => {
  const box = lit.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const left = box.left + box.width / 2 - own.width / 2, above = box.top - own.height - 6;
  tip.style.left = `${Math.max(4, Math.min(left, document.documentElement.clientWidth - own.width - 4))}px`;
  tip.style.top = `${above < 4 ? box.bottom + 6 : above}px`;
};
const light = mark => {
  if (lit !== mark) unlight();
  lit = mark;
  mark.classList.add("on");
  tip.textContent = mark.says;
  tip.hidden = false;
  place();
};
for (const mark of document.querySelectorAll(".mark")) {
  const title = mark.querySelector("title");
  mark.says = title.textContent;
  title.remove();
  mark.addEventListener("pointerenter", () => light(mark));
  mark.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") unlight(); });
}
document.addEventListener("pointerdown", event => { if (!event.target.closest(".mark")) unlight(); });
addEventListener("scroll", () => { if (lit) place(); }, {passive: true, capture: true});
addEventListener("beforeprint", unlight);
for (const box of document.querySelectorAll("figure .wide")) {
  const marks = [...box.querySelectorAll(".mark")];
  if (!marks.length) continue;
  box.setAttribute("aria-describedby", "keys");
  box.addEventListener("focusout", unlight);
  box.addEventListener("keydown", event => {
    const i = marks.indexOf(lit), same = marks.filter(x => lit && x.dataset.at && x.dataset.at === lit.dataset.at), j = same.indexOf(lit);
    const next = {
      ArrowRight: marks[i + 1], ArrowLeft: i < 0 ? undefined : marks[i - 1], Home: marks[0], End: marks[marks.length - 1],
      ArrowUp: same[j + 1], ArrowDown: same[j - 1],
    }[event.key];
    if (event.key === "Escape") unlight();
    if (!next) return;
    event.preventDefault();
    next.scrollIntoView({block: "nearest", inline: "nearest"});
    light(next);
  });
}
// the chosen quarter: its state, its band in the charts, its drawings
const states = [...document.querySelectorAll(".state")], slider = document.getElementById("slider");
const band = (svg, quarter) => {
  svg.querySelectorAll(".band").forEach(x => x.remove());
  const marks = [...svg.querySelectorAll(".mark")], here = marks.filter(x => x.dataset.at === quarter);
  if (!here.length) return;
  const all = marks.map(x => x.getBBox()), boxes = here.map(x => x.getBBox());
  const left = Math.min(...boxes.map(b => b.x)), right = Math.max(...boxes.map(b => b.x + b.width));
  const top = Math.min(...all.map(b => b.y)), bottom = Math.max(...all.map(b => b.y + b.height));
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const at = {x: left - 3, y: top - 3, width: right - left + 6, height: bottom - top + 6, class: "band"};
  for (const [key, value] of Object.entries(at)) rect.setAttribute(key, value);
  svg.append(rect);
};
const draw = (svg, quarter) => {
  const found = JSON.parse(svg.dataset.quarters)[quarter];
  if (!found) return;
  svg.setAttribute("aria-label", found.words);
  svg.closest("figure").querySelector("figcaption").textContent = found.words;
  svg.querySelectorAll(".by").forEach((text, i) => { text.textContent = found.texts[i]; });
  const colors = (found.racks || []).flatMap(([color, n]) => Array(n).fill(color));
  svg.querySelectorAll(".slot").forEach((slot, i) => {
    slot.setAttribute("fill", colors[i] || "none");
    slot.classList.toggle("frame", !colors[i]);
  });
};
const choose = (i, drawn) => {
  const quarter = states[i].dataset.quarter;
  states.forEach((state, j) => { state.hidden = i !== j; });
  slider.setAttribute("aria-valuetext", quarter);
  document.getElementById("chosen").textContent = quarter;
  document.querySelectorAll("figure svg").forEach(svg => band(svg, quarter));
  if (drawn) document.querySelectorAll("svg[data-quarters]").forEach(svg => draw(svg, quarter));
};
if (slider) {
  document.querySelector(".when").hidden = false;
  slider.addEventListener("input", () => choose(Number(slider.value), true));
  choose(Number(slider.value), false);
}
