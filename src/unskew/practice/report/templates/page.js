"use strict";
/* The slider of the cut and the values under the pointer. Without this script the page shows the same numbers, at the
   model's own cut and in the table. */
(() => {
  const source = document.getElementById("evidence");
  const slider = document.getElementById("cut");
  if (!source || !slider) return;
  const evidence = JSON.parse(source.textContent);
  const curve = evidence.curve;
  const charts = [...document.querySelectorAll("svg[data-across]")];
  const shares = { flagged: "flagged", precision: "precision", recall: "tpr", fpr: "fpr" };

  const percent = (share) => {
    const value = 100 * share;
    return value.toFixed(value >= 9.95 || value === 0 ? 0 : value >= 0.995 ? 1 : 2) + "\u00a0%";
  };
  const write = (name, text, value) => {
    const element = document.getElementById(name);
    if (!element) return;
    element.textContent = text;
    if (value === null) element.removeAttribute("data-value");
    else element.dataset.value = value;
  };
  const placeOf = (chart, place) => {
    const [left, right, top, bottom] = ["left", "right", "top", "bottom"].map((side) => Number(chart.dataset[side]));
    const across = curve[chart.dataset.across][place];
    const up = curve[chart.dataset.up][place];
    return [left + (right - left) * across, bottom - (bottom - top) * up];
  };
  const moveTo = (circle, [x, y]) => {
    circle.setAttribute("cx", x);
    circle.setAttribute("cy", y);
  };

  const show = (place) => {
    const rows = Math.round(curve.flagged[place] * evidence.n_ranked);
    write("chosen-rows", rows.toLocaleString("en-US"), rows);
    const found = Math.round(rows * curve.precision[place]);
    write("chosen-found", found.toLocaleString("en-US"), found);
    const score = curve.threshold[place];
    write("chosen-score", score === null ? "not known" : String(Number(score.toPrecision(4))), score);
    const [flagged, precision, recall] = Object.entries(shares).map(([name, column]) => {
      const value = curve[column][place];
      write(`chosen-${name}`, percent(value), value);
      return percent(value);
    });
    slider.setAttribute("aria-valuetext", `${rows} rows, ${flagged} flagged, precision ${precision}, recall ${recall}`);
    for (const chart of charts) moveTo(chart.querySelector(".chosen"), placeOf(chart, place));
  };

  const nearest = (chart, event) => {
    const box = chart.getBoundingClientRect();
    const view = chart.viewBox.baseVal;
    const x = ((event.clientX - box.left) * view.width) / box.width;
    const y = ((event.clientY - box.top) * view.height) / box.height;
    const first = Number(slider.min);
    /* Precision jumps about while recall only grows: there the pointer means a recall. */
    const upward = chart.dataset.up === "precision" ? 0.05 : 1;
    let best = first;
    let least = Infinity;
    for (let place = first; place < curve.flagged.length; place += 1) {
      const [left, top] = placeOf(chart, place);
      const distance = (left - x) ** 2 + upward * (top - y) ** 2;
      if (distance < least) [best, least] = [place, distance];
    }
    return best;
  };

  const watch = (chart) => {
    const figure = chart.closest("figure");
    const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
    tip.setAttribute("aria-hidden", "true");
    figure.append(tip);
    const ring = chart.querySelector(".chosen").cloneNode();
    ring.setAttribute("class", "ring");
    ring.setAttribute("hidden", "");
    chart.append(ring);
    chart.addEventListener("pointermove", (event) => {
      const place = nearest(chart, event);
      const [x, y] = placeOf(chart, place);
      const box = chart.getBoundingClientRect();
      const frame = figure.getBoundingClientRect();
      const left = box.left - frame.left + (x / chart.viewBox.baseVal.width) * box.width;
      const top = box.top - frame.top + (y / chart.viewBox.baseVal.height) * box.height;
      const line = ([name, column]) => `${name === "fpr" ? "false positives" : name} ${percent(curve[column][place])}`;
      tip.textContent = Object.entries(shares).map(line).join("\n");
      tip.hidden = false;
      const room = frame.width - tip.offsetWidth - 4;
      tip.style.left = `${Math.max(4, Math.min(left + 12, room))}px`;
      const above = top - tip.offsetHeight - 10;
      tip.style.top = `${above > 4 ? above : top + 14}px`;
      moveTo(ring, [x, y]);
      ring.removeAttribute("hidden");
    });
    chart.addEventListener("pointerleave", () => {
      tip.hidden = true;
      ring.setAttribute("hidden", "");
    });
    chart.addEventListener("click", (event) => {
      slider.value = nearest(chart, event);
      show(Number(slider.value));
    });
  };

  document.getElementById("control").hidden = false;
  slider.addEventListener("input", () => show(Number(slider.value)));
  charts.forEach(watch);
  show(Number(slider.value));
})();
