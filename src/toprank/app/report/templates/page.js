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

  // Round numbers from low to high, some four of them.
  function ticks(low, high) {
    const rough = (high - low) / 4, power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = power * [1, 2, 2.5, 5, 10].find((each) => each * power >= rough * 0.999);
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9); at * step <= high * (1 + 1e-9); at += 1) found.push(Number((at * step).toPrecision(12)));
    return found.filter((at) => Number.isInteger(at) || high - low < 4);
  }

  function draw(host, { xMax, yMax, yMin = 0, lines, band, marks, x, y, yText }) {
    host.replaceChildren();
    const svg = make(host, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
    const px = (value) => LEFT + ((WIDTH - LEFT - RIGHT) * value) / xMax;
    const py = (value) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * (value - yMin)) / (yMax - yMin);
    for (const yAt of ticks(yMin, yMax)) {
      make(svg, "line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: py(yAt), y2: py(yAt) });
      make(svg, "text", { x: LEFT - 8, y: py(yAt) + 4, "text-anchor": "end" }, yText(yAt));
    }
    for (const xAt of ticks(0, xMax)) {
      make(svg, "text", { x: px(xAt), y: HEIGHT - BOTTOM + 18, "text-anchor": xAt > 0.95 * xMax ? "end" : "middle" }, number.format(xAt));
    }
    make(svg, "text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, x);
    make(svg, "text", { x: 14, y: HEIGHT / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${HEIGHT / 2})` }, y);
    // Pairs up to the right edge; the last piece is cut there.
    const inside = (pairs) => {
      const shown = pairs.filter(([at]) => at <= xMax), next = pairs[shown.length];
      if (next && shown.length) {
        const [at, value] = shown[shown.length - 1];
        shown.push([xMax, value + ((next[1] - value) * (xMax - at)) / (next[0] - at)]);
      }
      return shown;
    };
    const points = (pairs) => pairs.map(([at, value]) => `${px(at).toFixed(1)},${py(Math.min(value, yMax)).toFixed(1)}`).join(" ");
    if (band) make(svg, "polygon", { class: `band ${band.kind}`, points: points(inside(band.high)) + " " + points(inside(band.low).reverse()) });
    for (const { pairs, kind } of lines) make(svg, "polyline", { class: kind, points: points(inside(pairs)) });
    for (const [at, value, kind] of marks || []) {
      if (at > xMax) continue;
      make(svg, "line", { class: "mark", x1: px(at), x2: px(at), y1: TOP, y2: HEIGHT - BOTTOM });
      make(svg, "circle", { class: `dot ${kind}`, cx: px(at), cy: py(value), r: 4.5 });
    }
  }

  // The budget -----------------------------------------------------------------------------
  if (data.series) {
    const slider = byId("budget"), zoom = byId("zoom"), series = data.series;
    const { lengths, taken, base, found: hits, n_lists: lists } = series[data.shaded], last = lengths.length - 1;
    const total = taken[last], positives = hits[last], ofLists = lists > 1 ? " of each list" : "";
    const kind = (at) => `line-${at + 1}`;
    const inAll = (each, at, along) => ({ pairs: [[0, 0], ...each.found.map((found, i) => [along(each, i), found])], kind: `line ${kind(at)}` });

    const words = (at) => {
      const rows = lengths[at] === 1 ? `first row${ofLists} contains` : `first ${number.format(lengths[at])} rows${ofLists} contain`;
      if (series.length > 1) {
        const found = series.map((each) => `${number.format(each.found[at])} (precision ${percent(each.share[at])}) with ${each.name}`);
        return `Of ${number.format(positives)} positives, the ${rows} ${found.join("; ")}.`;
      }
      const { found, share, low, high } = series[0];
      return `The ${rows} ${number.format(found[at])} positives: ${percent(share[at])} of them (${percent(low[at])} to ${percent(high[at])}), ` +
        `${percent(found[at] / positives)} of all positives. In random order it would be ${percent(base)} of them.`;
    };

    const update = () => {
      const at = Number(slider.value), k = lengths[at];
      slider.setAttribute("aria-valuetext", `${k} rows${ofLists}`);
      byId("length").value = k;
      byId("at-budget").textContent = words(at);
      const reach = lengths[Math.min(last, Math.max(at + 1, Math.ceil(last / 2)))];
      const edge = (name) => lengths.map((each, i) => [each, series[data.shaded][name][i]]);
      draw(byId("precision"), {
        xMax: reach, yMax: 1, x: `Rows in the shortlist${ofLists}`, y: "Share of positives", yText: (value) => `${Math.round(100 * value)} %`,
        lines: [...series.map((each, i) => ({ pairs: lengths.map((length, j) => [length, each.share[j]]), kind: `line ${kind(i)}` })),
          { pairs: [[0, base], [reach, base]], kind: "chance" }],
        band: { low: edge("low"), high: edge("high"), kind: kind(data.shaded) },
        marks: series.map((each, i) => [k, each.share[at], kind(i)]),
      });
      draw(byId("gain"), {
        xMax: total, yMax: positives, x: "Rows looked at", y: "Positives found", yText: (value) => number.format(Math.round(value)),
        lines: [...series.map((each, i) => inAll(each, i, (_, j) => taken[j])), { pairs: [[0, 0], [total, positives]], kind: "chance" }],
        marks: series.map((each, i) => [taken[at], each.found[at], kind(i)]),
      });
    };

    const drawRoc = () => {
      const all = total - positives;
      const xMax = Math.max(4, Math.round(all * Math.pow(10, -Number(zoom.value) / 10)));
      zoom.setAttribute("aria-valuetext", `the first ${xMax} negatives`);
      byId("at-zoom").textContent = `Shown: the first ${number.format(xMax)} of ${number.format(all)} negatives.`;
      draw(byId("roc"), {
        xMax, yMax: positives, x: "Negatives passed", y: "Positives found", yText: (value) => number.format(Math.round(value)),
        lines: [...series.map((each, i) => inAll(each, i, (one, j) => taken[j] - one.found[j])),
          { pairs: [[0, 0], [xMax, positives * Math.min(1, xMax / all)]], kind: "chance" }],
      });
    };

    if (series.length > 1) {
      byId("legend").hidden = false;
      byId("legend").append(...series.map((each, at) => {
        const item = document.createElement("li");
        item.className = kind(at);
        item.textContent = each.name;
        return item;
      }));
    }
    slider.max = last;
    let start = 0;
    lengths.forEach((k, at) => { if (k <= data.budget) start = at; });
    slider.value = start;
    slider.addEventListener("input", update);
    const box = byId("length");
    box.max = lengths[last];
    box.addEventListener("change", () => {
      const wanted = Number(box.value);
      let nearest = 0;
      lengths.forEach((k, at) => { if (Math.abs(k - wanted) < Math.abs(lengths[nearest] - wanted)) nearest = at; });
      slider.value = nearest;
      update();
    });
    zoom.addEventListener("input", drawRoc);
    update();
    drawRoc();
  }

  if (data.money) {
    const { lengths, worth, best } = data.money;
    const high = Math.max(0, ...worth), low = Math.min(0, ...worth);
    draw(byId("worth"), {
      xMax: lengths[lengths.length - 1], yMin: low, yMax: high > low ? high : low + 1, x: "Rows in the shortlist", y: "Worth",
      yText: (value) => number.format(value),
      lines: [{ pairs: lengths.map((k, at) => [k, worth[at]]), kind: "line line-1" }],
      marks: [[best, Math.max(...worth), "line-1"]],
    });
  }

  // Sorting --------------------------------------------------------------------------------
  const collator = new Intl.Collator("en", { numeric: true });
  const isNumber = (cell) => String(cell).trim() !== "" && !Number.isNaN(Number(cell));
  const compare = (one, two) => isNumber(one) && isNumber(two) ? one - two : collator.compare(String(one), String(two));

  // Headings become buttons; arrange(column, down) puts the rows in order.
  function sortable(heads, arrange, sorted) {
    let column = sorted, down = false;
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => {
        down = column === at ? !down : false;
        column = at;
        heads.forEach((each, i) => each.setAttribute("aria-sort", i !== at ? "none" : down ? "descending" : "ascending"));
        arrange(column, down);
      });
      head.replaceChildren(button);
      head.setAttribute("aria-sort", at === sorted ? "ascending" : "none");
    });
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    const rows = [...table.tBodies[0].rows];
    const value = (row, column) => {
      const cell = row.cells[column];
      return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
    };
    sortable([...table.tHead.rows[0].cells], (column, down) => {
      const sign = down ? -1 : 1;
      table.tBodies[0].append(...[...rows].sort((a, b) => sign * compare(value(a, column), value(b, column))));
    }, -1);
  }

  // The shortlist --------------------------------------------------------------------------
  const PAGE = 100;
  const table = byId("list"), body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const texts = data.rows.map((row) => row.join("\u0001").toLowerCase());
  let order = data.rows.map((_, at) => at), page = 0;
  let sortedBy = data.sorted, isDown = false;

  function why(at) {
    const parts = data.drivers[at];
    byId("why-heading").textContent = `Why row ${at + 1} of the shortlist is there`;
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

  function show(most = PAGE) {
    const pages = Math.max(1, Math.ceil(order.length / PAGE));
    page = Math.min(page, pages - 1);
    const from = most > PAGE ? 0 : page * PAGE;
    body.replaceChildren(...order.slice(from, from + most).map((at) => {
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
    const sign = isDown ? -1 : 1;
    if (sortedBy >= 0) order.sort((a, b) => sign * compare(data.rows[a][sortedBy], data.rows[b][sortedBy]) || a - b);
    page = 0;
    show();
  }

  sortable(heads, (column, down) => { sortedBy = column; isDown = down; arrange(); }, data.sorted);
  let waiting = 0;
  byId("filter").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(arrange, 120); });
  // As toprank rank writes it: an apostrophe keeps a spreadsheet from running a text.
  byId("download").addEventListener("click", () => {
    const cell = (value) => {
      const text = isNumber(value) ? String(value) : String(value).replace(/^('*[=+\-@\t\r])/, "'$1");
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = [heads.map((head) => head.textContent), ...order.map((at) => data.rows[at])];
    const file = new Blob([lines.map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n"], { type: "text/csv" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = "shortlist.csv";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  // A print has no pages to turn.
  window.addEventListener("beforeprint", () => show(data.rows.length));
  window.addEventListener("afterprint", () => show());
  byId("previous").addEventListener("click", () => { page -= 1; show(); });
  byId("next").addEventListener("click", () => { page += 1; show(); });
  arrange();
})();
