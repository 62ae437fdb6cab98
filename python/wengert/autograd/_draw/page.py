"""A picture as a page for a browser: one file, which needs nothing else.

It shows the SVG of `svg.py`, whose paths are the edges and whose groups are the vertices, both in the order of the
picture. The wheel zooms and dragging moves. A click on a vertex folds it: what is reached through it alone disappears,
until the next click. A search marks names and lines; colours show what each node keeps for backward, if asked.
"""

from __future__ import annotations

import json
from html import escape

from .collect import Picture
from .svg import to_svg


def to_page(picture: Picture, title: str) -> str:
    """Return the text of the page."""
    data = {
        "edges": picture.edges,
        "words": [" ".join([v.name, *v.lines, v.place or ""]).lower() for v in picture.vertices],
        "saved": [vertex.saved for vertex in picture.vertices],
    }
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    return _PAGE.replace("TITLE", escape(title)).replace("PICTURE", to_svg(picture)).replace("DATA", text)


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>TITLE</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
html, body { height: 100%; margin: 0; background: #fff; color: #222; font: 13px system-ui, sans-serif }
body { display: flex; flex-direction: column }
header { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; padding: 8px 12px;
         border-bottom: 1px solid #ddd }
header b { font-size: 15px } input, button { font: inherit }
main { flex: 1; overflow: hidden } main svg { width: 100%; height: 100%; cursor: grab }
g { cursor: pointer } g.found rect { stroke: #d00; stroke-width: 3 } g.folded rect { stroke-dasharray: 4 3 }
.hidden { display: none } .dim { opacity: 0.3 }
</style></head><body>
<header><b>TITLE</b><input id="search" type="search" placeholder="search"><span id="said"></span>
<label><input id="heat" type="checkbox"> memory</label><button id="whole">whole</button>
<button id="unfold">unfold all</button></header>
<main>PICTURE</main>
<script>
const data = DATA, svg = document.querySelector("svg"), groups = [...svg.querySelectorAll(":scope > g")];
const paths = [...svg.querySelectorAll(":scope > path")], by = id => document.getElementById(id), folded = new Set();
const next = groups.map(() => []), entered = new Set();
data.edges.forEach(([s, t]) => { next[s].push(t); entered.add(t); });
const colours = groups.map(g => g.querySelector("rect").getAttribute("fill")), most = Math.max(1, ...data.saved);
const size = b => b < 1024 ? b + " B" : b < 2 ** 20 ? (b / 1024).toFixed(1) + " KB" : (b / 2 ** 20).toFixed(1) + " MB";
const start = svg.getAttribute("viewBox").split(" ").map(Number); let box = [...start], drag = null, moved = false;
svg.removeAttribute("width"); svg.removeAttribute("height");
function show() {
  const seen = new Set(), waiting = groups.map((_, i) => i).filter(i => !entered.has(i));
  while (waiting.length) { const v = waiting.pop(); if (seen.has(v)) continue; seen.add(v);
    if (!folded.has(v)) waiting.push(...next[v]); }
  const wanted = by("search").value.toLowerCase(); let found = 0, kept = 0;
  groups.forEach((g, i) => { const match = wanted && data.words[i].includes(wanted); found += match ? 1 : 0;
    kept += data.saved[i]; g.classList.toggle("hidden", !seen.has(i)); g.classList.toggle("found", !!match);
    g.classList.toggle("dim", !!wanted && !match); g.classList.toggle("folded", folded.has(i));
    const share = Math.sqrt(data.saved[i] / most);
    g.querySelector("rect").setAttribute("fill", by("heat").checked ?
      `hsl(${50 - 50 * share}, 95%, ${97 - 37 * share}%)` : colours[i]); });
  paths.forEach((p, i) => { const [s, t] = data.edges[i];
    p.classList.toggle("hidden", !seen.has(s) || !seen.has(t) || folded.has(s)); });
  by("said").textContent = wanted ? found + " found" :
    `${seen.size} of ${groups.length} nodes, which save ${size(kept)}`;
}
function view() { svg.setAttribute("viewBox", box.join(" ")); }
const scale = () => Math.max(box[2] / svg.clientWidth, box[3] / svg.clientHeight);
groups.forEach((g, i) => g.addEventListener("click", () => { if (moved || !next[i].length) return;
  folded.has(i) ? folded.delete(i) : folded.add(i); show(); }));
svg.addEventListener("wheel", e => { e.preventDefault(); const z = 1.15 ** Math.sign(e.deltaY);
  const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
  box = [p.x - (p.x - box[0]) * z, p.y - (p.y - box[1]) * z, box[2] * z, box[3] * z]; view(); }, { passive: false });
svg.addEventListener("pointerdown", e => { drag = [e.clientX, e.clientY, ...box]; moved = false; });
addEventListener("pointerup", () => drag = null);
addEventListener("pointermove", e => { if (!drag) return; const k = scale();
  const dx = e.clientX - drag[0], dy = e.clientY - drag[1]; moved = moved || Math.abs(dx) + Math.abs(dy) > 4;
  box = [drag[2] - dx * k, drag[3] - dy * k, drag[4], drag[5]]; view(); });
by("search").oninput = by("heat").onchange = show;
by("whole").onclick = () => { box = [...start]; view(); };
by("unfold").onclick = () => { folded.clear(); show(); };
show();
</script></body></html>
"""
