"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const number = new Intl.NumberFormat("en", { maximumFractionDigits: 4 });
  const percent = (share) => `${(100 * share).toFixed(1)} %`;

  // Drawing --------------------------------------------------------------------------------
  const WIDTH = 480, HEIGHT = 270, LEFT = 62, BOTTOM = 46, TOP = 12, RIGHT = 14;
  const make = (parent, name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };

  function draw(host, { xMax, yMax, lines, band, mark, x, y, yText }) {
    host.replaceChildren();
    const svg = make(host, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
    const px = (value) => LEFT + ((WIDTH - LEFT - RIGHT) * value) / xMax;
    const py = (value) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * value) / yMax;
    for (let step = 0; step <= 4; step += 1) {
      const yAt = (yMax * step) / 4, xAt = (xMax * step) / 4;
      make(svg, "line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: py(yAt), y2: py(yAt) });
      make(svg, "text", { x: LEFT - 8, y: py(yAt) + 4, "text-anchor": "end" }, yText(yAt));
      make(svg, "text", { x: px(xAt), y: HEIGHT - BOTTOM + 18, "text-anchor": step === 4 ? "end" : "middle" },
        number.format(Math.round(xAt)));
    }
    make(svg, "text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, x);
    make(svg, "text", { x: 14, y: HEIGHT / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${HEIGHT / 2})` }, y);
    const points = (pairs) => pairs.filter(([at]) => at <= xMax).map(([at, value]) => `${px(at).toFixed(1)},${py(Math.min(value, yMax)).toFixed(1)}`).join(" ");
    if (band) make(svg, "polygon", { class: "band", points: points(band.high) + " " + points([...band.low].reverse()) });
    for (const { pairs, kind } of lines) make(svg, "polyline", { class: kind, points: points(pairs) });
    if (mark && mark[0] <= xMax) {
      make(svg, "line", { class: "mark", x1: px(mark[0]), x2: px(mark[0]), y1: TOP, y2: HEIGHT - BOTTOM });
      make(svg, "circle", { class: "dot", cx: px(mark[0]), cy: py(mark[1]), r: 4.5 });
    }
  }

  // The budget -----------------------------------------------------------------------------
  if (data.k) {
    const slider = byId("budget"), zoom = byId("zoom"), last = data.k.length - 1;
    const base = data.n_positives / data.n_rows;
    const share = data.k.map((k, at) => data.found[at] / k);
    slider.max = last;
    let start = 0;
    data.k.forEach((k, at) => { if (k <= data.budget) start = at; });
    slider.value = start;
    const negatives = data.k.map((k, at) => k - data.found[at]);
    const update = () => {
      const at = Number(slider.value), k = data.k[at], found = data.found[at];
      slider.setAttribute("aria-valuetext", `${k} rows`);
      byId("at-budget").textContent =
        `The first ${number.format(k)} rows hold ${number.format(found)} positives: ${percent(share[at])} of them ` +
        `(${percent(data.low[at])} to ${percent(data.high[at])}), ${percent(found / data.n_positives)} of all positives, ` +
        `${(share[at] / base).toFixed(1)} times as many as a random list.`;
      const reach = data.k[Math.min(last, Math.max(at + 1, Math.ceil(last / 2)))];
      draw(byId("precision"), {
        xMax: reach, yMax: 1, x: "Rows in the shortlist", y: "Share of positives", yText: (value) => `${Math.round(100 * value)} %`,
        lines: [{ pairs: data.k.map((each, i) => [each, share[i]]), kind: "line" }, { pairs: [[0, base], [reach, base]], kind: "chance" }],
        band: { low: data.k.map((each, i) => [each, data.low[i]]), high: data.k.map((each, i) => [each, data.high[i]]) },
        mark: [k, share[at]],
      });
      draw(byId("gain"), {
        xMax: data.n_rows, yMax: data.n_positives, x: "Rows looked at", y: "Positives found", yText: (value) => number.format(Math.round(value)),
        lines: [{ pairs: [[0, 0], ...data.k.map((each, i) => [each, data.found[i]])], kind: "line" }, { pairs: [[0, 0], [data.n_rows, data.n_positives]], kind: "chance" }],
        mark: [k, found],
      });
    };
    const drawRoc = () => {
      const all = data.n_rows - data.n_positives;
      const xMax = Math.max(4, Math.round(all * Math.pow(10, -Number(zoom.value) / 10)));
      zoom.setAttribute("aria-valuetext", `the first ${xMax} negatives`);
      byId("at-zoom").textContent = `Shown: the first ${number.format(xMax)} of ${number.format(all)} negatives.`;
      const pairs = [[0, 0], ...negatives.map((each, i) => [each, data.found[i]])];
      draw(byId("roc"), {
        xMax, yMax: data.n_positives, x: "Negatives passed", y: "Positives found", yText: (value) => number.format(Math.round(value)),
        lines: [{ pairs, kind: "line" }, { pairs: [[0, 0], [xMax, data.n_positives * Math.min(1, xMax / all)]], kind: "chance" }],
      });
    };
    slider.addEventListener("input", update);
    zoom.addEventListener("input", drawRoc);
    update();
    drawRoc();
  }

  // The shortlist --------------------------------------------------------------------------
  const PAGE = 100;
  const table = byId("list"), body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const texts = data.rows.map((row) => row.join("\u0001").toLowerCase());
  const collator = new Intl.Collator("en", { numeric: true });
  let order = data.rows.map((_, at) => at), page = 0;
  const sorting = { column: 0, down: false };

  function why(at) {
    const parts = data.drivers[at];
    byId("why-heading").textContent = `Why row ${at + 1} of the shortlist stands where it does`;
    byId("why-rows").replaceChildren(...parts.map(([name, value, adds]) => {
      const line = document.createElement("tr");
      for (const [text, tag] of [[name, "th"], [value, "td"], [(adds < 0 ? "−" : "+") + number.format(Math.abs(adds)), "td"]]) {
        const cell = document.createElement(tag);
        if (tag === "th") cell.scope = "row";
        cell.textContent = text;
        line.append(cell);
      }
      return line;
    }));
    byId("why").hidden = false;
    byId("why").focus();
  }

  function show() {
    const pages = Math.max(1, Math.ceil(order.length / PAGE));
    page = Math.min(page, pages - 1);
    body.replaceChildren(...order.slice(page * PAGE, (page + 1) * PAGE).map((at) => {
      const line = document.createElement("tr");
      data.rows[at].forEach((value, column) => {
        const cell = document.createElement("td");
        const text = typeof value === "number" ? number.format(value) : value;
        if (column === 0 && at < data.drivers.length) {
          const button = document.createElement("button");
          button.type = "button";
          button.textContent = text;
          button.title = "Why here?";
          button.setAttribute("aria-label", `Row ${text}: why here?`);
          button.addEventListener("click", () => why(at));
          cell.append(button);
        } else {
          cell.textContent = text;
          cell.title = text;
        }
        line.append(cell);
      });
      return line;
    }));
    byId("count").textContent = `${number.format(order.length)} of ${number.format(data.rows.length)} rows; page ${page + 1} of ${pages}.`;
    byId("previous").disabled = page === 0;
    byId("next").disabled = page >= pages - 1;
  }

  function arrange() {
    const wanted = byId("filter").value.trim().toLowerCase();
    order = [];
    for (let at = 0; at < data.rows.length; at += 1) if (!wanted || texts[at].includes(wanted)) order.push(at);
    const { column, down } = sorting, sign = down ? -1 : 1;
    order.sort((a, b) => {
      const one = data.rows[a][column], two = data.rows[b][column];
      const both = typeof one === "number" && typeof two === "number";
      return sign * (both ? one - two : collator.compare(String(one), String(two))) || a - b;
    });
    page = 0;
    show();
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => {
      sorting.down = sorting.column === column ? !sorting.down : false;
      sorting.column = column;
      heads.forEach((each, at) => each.setAttribute("aria-sort", at !== column ? "none" : sorting.down ? "descending" : "ascending"));
      arrange();
    });
    head.replaceChildren(button);
    head.setAttribute("aria-sort", column === 0 ? "ascending" : "none");
  });
  let waiting = 0;
  byId("filter").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(arrange, 120); });
  byId("previous").addEventListener("click", () => { page -= 1; show(); });
  byId("next").addEventListener("click", () => { page += 1; show(); });
  arrange();
})();
