"""A profile as a page: one file for a browser, which needs nothing else.

Events lie in lanes, one for each thread and, below it, one for each depth of calls. The page draws those in view on a
canvas: the wheel zooms, dragging moves, pointing at an event shows what it is, and a search marks names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any


def timeline_page(events: Iterable[Any], path: str, title: str) -> None:
    """Write the page."""
    events = [event for event in events if hasattr(event, "time_range")]
    names = list(dict.fromkeys(event.name for event in events))
    number = {name: at for at, name in enumerate(names)}
    lanes = _lanes(events)
    rows = [
        [
            number[event.name], lanes[event.thread, _depth(event)], round(event.time_range.start, 3),
            round(event.time_range.elapsed_us(), 3), _kind(event), str(event.input_shapes or ""),
        ]
        for event in events
    ]  # fmt: skip
    data = {
        "names": names,
        "events": rows,
        "lanes": [f"thread {thread}" if depth == 0 else "" for thread, depth in lanes],
    }
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    Path(path).write_text(_PAGE.replace("TITLE", escape(title)).replace("DATA", text), encoding="utf-8")


def _depth(event: Any) -> int:
    depth = 0
    while event.cpu_parent is not None:
        event, depth = event.cpu_parent, depth + 1
    return depth


def _kind(event: Any) -> int:
    """Return what its colour says: 0 operation, 1 backward, 2 the user's name, 3 message."""
    if event.name.startswith("distributed::"):
        return 3
    if event.is_user_annotation:
        return 2
    return 1 if event.scope == 1 or event.name.startswith("autograd::engine") else 0


def _lanes(events: Iterable[Any]) -> dict[tuple[int, int], int]:
    """Number the lanes: threads in the order of their first event, depths from the outside in."""
    deepest: dict[int, int] = {}
    for event in events:
        deepest[event.thread] = max(deepest.get(event.thread, 0), _depth(event))
    places = [(thread, depth) for thread, most in deepest.items() for depth in range(most + 1)]
    return {place: at for at, place in enumerate(places)}


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>TITLE</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --page: #fff; --text: #222; --line: #ddd }
@media (prefers-color-scheme: dark) { :root { --page: #181a1b; --text: #ddd; --line: #444 } }
body { margin: 0; background: var(--page); color: var(--text); font: 13px system-ui, sans-serif }
header { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; padding: 8px 12px;
         border-bottom: 1px solid var(--line) }
header b { font-size: 15px } i { display: inline-block; width: 10px; height: 10px; margin-right: 4px }
input, button { font: inherit } canvas { display: block; width: 100%; cursor: grab }
#tip { position: fixed; display: none; max-width: 420px; padding: 6px 8px; border: 1px solid var(--line);
       background: var(--page); box-shadow: 0 2px 8px #0004; pointer-events: none; overflow-wrap: anywhere }
</style></head><body>
<header><b>TITLE</b><span id="legend"></span><input id="search" type="search" placeholder="search names">
<span id="found"></span><button id="whole">whole</button></header>
<canvas id="canvas"></canvas><div id="tip"></div>
<script>
const data = DATA, ROW = 20, TOP = 24, KINDS = ["operation", "backward", "named by you", "message"];
const COLOURS = ["#7fb0e6", "#e8a45c", "#8fc27a", "#c78fd6"];
const canvas = document.getElementById("canvas"), pen = canvas.getContext("2d"), tip = document.getElementById("tip");
const search = document.getElementById("search"), end = Math.max(1, ...data.events.map(e => e[2] + e[3]));
let from = 0, to = end, drag = null;
const used = new Set(data.events.map(e => e[4]));
document.getElementById("legend").innerHTML = KINDS.map((k, i) => used.has(i) ?
  `<i style="background:${COLOURS[i]}"></i>${k} &nbsp;` : "").join("");
const scale = () => canvas.clientWidth / (to - from);
const time = t => t < 1000 ? t.toFixed(1) + " us" : t < 1e6 ?
  (t / 1000).toFixed(2) + " ms" : (t / 1e6).toFixed(3) + " s";
function draw() {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = TOP + ROW * data.lanes.length + 8;
  canvas.style.height = height + "px"; canvas.width = width * ratio; canvas.height = height * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0); pen.font = "11px monospace"; pen.textBaseline = "middle";
  const style = getComputedStyle(document.body), k = scale(), text = style.color, wanted = search.value.toLowerCase();
  const least = (to - from) / Math.max(2, width / 110), power = 10 ** Math.floor(Math.log10(least));
  const step = power * [1, 2, 5, 10].find(f => f * power >= least);
  pen.fillStyle = text; pen.strokeStyle = "#8884";
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
    const x = (t - from) * k; pen.beginPath(); pen.moveTo(x, 0); pen.lineTo(x, height); pen.stroke();
    pen.fillText(time(t), x + 3, 10);
  }
  let found = 0; const last = new Float64Array(data.lanes.length).fill(-1);
  for (const [name, lane, start, length, kind] of data.events) {
    const match = wanted && data.names[name].toLowerCase().includes(wanted); found += match;
    const x = (start - from) * k, w = Math.max(1, length * k);
    if (x + w < 0 || x > width || (!match && w <= 1 && x < last[lane])) continue;
    last[lane] = x + 1; const y = TOP + lane * ROW;
    pen.globalAlpha = wanted && !match ? 0.25 : 1; pen.fillStyle = COLOURS[kind]; pen.fillRect(x, y, w, ROW - 3);
    if (match) { pen.strokeStyle = "#d00"; pen.strokeRect(x, y, w, ROW - 3); }
    if (w > 30) { pen.save(); pen.beginPath(); pen.rect(x, y, w, ROW); pen.clip(); pen.fillStyle = "#111";
      pen.fillText(data.names[name], Math.max(x, 0) + 3, y + 9); pen.restore(); }
  }
  pen.globalAlpha = 1; pen.fillStyle = text;
  data.lanes.forEach((label, i) => { if (label) { pen.strokeStyle = "#8888"; pen.beginPath();
    pen.moveTo(0, TOP + i * ROW - 2); pen.lineTo(width, TOP + i * ROW - 2); pen.stroke();
    pen.fillStyle = style.backgroundColor; pen.fillRect(width - 8 * label.length - 4, TOP + i * ROW, 999, ROW - 3);
    pen.fillStyle = text; pen.fillText(label, width - 8 * label.length, TOP + i * ROW + 8); } });
  document.getElementById("found").textContent = wanted ? found + " found" : data.events.length + " events";
}
function view(a, b) { const least = end / 1e6; if (b - a < least) b = a + least;
  from = Math.max(-end * 0.02, a); to = Math.min(end * 1.02, b); draw(); }
canvas.addEventListener("wheel", e => { e.preventDefault(); const at = from + e.offsetX / scale();
  const z = 1.2 ** Math.sign(e.deltaY); view(at - (at - from) * z, at + (to - at) * z); }, { passive: false });
canvas.addEventListener("pointerdown", e => { drag = [e.clientX, from, to]; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener("pointerup", () => drag = null);
canvas.addEventListener("pointermove", e => {
  if (drag) { const d = (drag[0] - e.clientX) / scale(); return view(drag[1] + d, drag[2] + d); }
  const t = from + e.offsetX / scale(), lane = Math.floor((e.offsetY - TOP) / ROW), near = 2 / scale();
  const hit = data.events.find(v => v[1] === lane && v[2] - near <= t && t <= v[2] + v[3] + near);
  tip.style.display = hit ? "block" : "none"; if (!hit) return;
  tip.textContent = `${data.names[hit[0]]}: ${time(hit[3])}, from ${time(hit[2])}` + (hit[5] ? ", of " + hit[5] : "");
  tip.style.left = Math.min(e.clientX + 12, innerWidth - 430) + "px"; tip.style.top = e.clientY + 14 + "px";
});
canvas.addEventListener("pointerleave", () => tip.style.display = "none");
search.addEventListener("input", draw); addEventListener("resize", draw);
document.getElementById("whole").onclick = () => view(0, end);
draw();
</script></body></html>
"""
