// Draws the plots, tells what a mark is, copies figures. Everything else of the page works without it.
(() => {
  "use strict";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const samples = read("samples");
  const theme = read("theme");
  const drawn = new Map(); // plot element -> {view, spec}

  // The samples stand column by column; a plot takes them row by row.
  function rowsOf(index) {
    const cell = samples[index];
    if (!cell) return [];
    const columns = Object.entries(cell).filter(([, value]) => Array.isArray(value));
    return (cell.request || []).map((_, i) => {
      const row = { target: cell.target, row: cell.row, color: cell.color, worth: "valid" };
      for (const [name, values] of columns) if (values[i] !== null) row[name] = values[i];
      row.ended = row.ended === 0 ? "ok" : row.ended;
      if (row.ended !== "ok") delete row.worth;
      return row;
    });
  }

  // Rows of a plot with several cells carry the names that its panel calls them by.
  function withSamples(spec) {
    const { cells, rows } = spec.usermeta || {};
    if (!cells) return spec;
    const named = (index, at) => rowsOf(index).map((row) => (rows ? { ...row, row: rows[at] } : row));
    return { ...spec, datasets: { samples: cells.flatMap(named) } };
  }

  const tip = document.getElementById("tip");
  function showTip(_, event, __, value) {
    if (!value) {
      tip.hidden = true;
      return;
    }
    const list = document.createElement("dl");
    for (const [name, text] of Object.entries(value)) {
      if (text === "" || text === "null" || text === "undefined" || text == null) continue;
      list.append(Object.assign(document.createElement("dt"), { textContent: name }));
      list.append(Object.assign(document.createElement("dd"), { textContent: String(text) }));
    }
    tip.replaceChildren(list);
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 8);
    const y = event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 12 : event.clientY + 18;
    tip.style.left = `${Math.max(8, x)}px`;
    tip.style.top = `${Math.max(8, y)}px`;
  }

  function draw(plot) {
    const spec = JSON.parse(plot.parentElement.querySelector("script.spec").textContent);
    const full = {
      ...withSamples(spec),
      width: Math.max(160, plot.clientWidth),
      autosize: { type: "fit-x", contains: "padding" },
    };
    const compiled = vegaLite.compile(full, { config: theme }).spec;
    const label = plot.getAttribute("aria-label");
    const view = new vega.View(vega.parse(compiled, null, { ast: true }), {
      expr: vega.expressionInterpreter,
      renderer: "svg",
      container: plot,
      hover: false,
      logLevel: vega.Warn,
      loader: { load: () => Promise.reject(), sanitize: () => Promise.reject(), http: null, file: null },
      tooltip: showTip,
    });
    view.run();
    // Vega's own words for the element would say less than ours.
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", label);
    plot.removeAttribute("aria-roledescription");
    drawn.set(plot, { view, spec: full });
    resized.observe(plot);
  }

  const resized = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      const view = drawn.get(target)?.view;
      const width = Math.max(160, Math.floor(contentRect.width));
      if (view && contentRect.width > 0 && Math.abs(view.width() - width) > 1) view.width(width).runAsync();
    }
  });

  function drawOrSay(plot) {
    try {
      draw(plot);
    } catch (error) {
      console.error(error);
      plot.textContent = "This browser cannot draw this plot; its figures stand below.";
    }
  }

  // One plot at a time, so that the page answers meanwhile; those in a closed part when it is opened; all before print.
  const waiting = new Set(document.querySelectorAll(".plot"));
  const isShown = (plot) => !plot.closest("details.group:not([open])");
  function drawNext() {
    const next = [...waiting].find(isShown);
    document.documentElement.dataset.drawn = drawn.size;
    document.documentElement.dataset.waiting = [...waiting].filter(isShown).length;
    if (!next) return;
    waiting.delete(next);
    drawOrSay(next);
    setTimeout(drawNext);
  }
  drawNext();
  document.addEventListener("toggle", drawNext, true);
  window.addEventListener("beforeprint", () => {
    for (const plot of [...waiting].filter(isShown)) {
      waiting.delete(plot);
      drawOrSay(plot);
    }
  });
  document.addEventListener("scroll", () => (tip.hidden = true), { passive: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && (tip.hidden = true));

  // Copying.
  const clean = (text) => String(text ?? "").replace(/[\t\r\n]+/g, " ").trim();
  function fromTable(id) {
    const table = document.getElementById(id);
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.name);
    return [...table.tBodies[0].rows].map((row) => {
      const record = {};
      [...row.cells].forEach((cell, i) => {
        let name = heads[i];
        while (name in record) name += " ";
        const { at, value, lo, hi } = cell.dataset;
        if (cell.tagName === "TH") {
          record[name] = clean(cell.firstChild.textContent);
          if (cell.children.length) record[`${name} detail`] = clean(cell.lastChild.textContent);
          return;
        }
        if (at === undefined) {
          record[name] = clean([...cell.children].length ? cell.innerText : cell.textContent);
          return;
        }
        const number = (text) => (text === "" ? null : text === "inf" ? "inf" : Number(text));
        record[name] = number(value);
        if (lo !== "" || hi !== "") {
          record[`${name} lo`] = number(lo);
          record[`${name} hi`] = number(hi);
        }
      });
      return record;
    });
  }
  function fromPlot(id) {
    const rows = [];
    for (const plot of document.getElementById(id).querySelectorAll(".plot")) {
      const spec = drawn.get(plot)?.spec;
      if (!spec) continue;
      const own = [spec, ...(spec.layer || [])].flatMap((part) => part.data?.values || []);
      rows.push(...(spec.datasets?.samples || []), ...own);
    }
    return rows.map(({ color, lane, order, ...rest }) => rest);
  }
  function written(rows, as) {
    if (as === "json") return JSON.stringify(rows, null, 1);
    const heads = [...new Set(rows.flatMap(Object.keys))];
    return [heads, ...rows.map((row) => heads.map((head) => clean(row[head])))].map((line) => line.join("\t")).join("\n");
  }
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Older browsers, and pages that are files: by way of a selection.
      const area = Object.assign(document.createElement("textarea"), { value: text });
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      if (!done) throw new Error("not copied");
    }
  }
  const said = document.getElementById("said");
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const { table, plot, text, as } = button.dataset;
    const content = text ? document.getElementById(text).textContent : written(table ? fromTable(table) : fromPlot(plot), as);
    const before = button.textContent;
    try {
      await copy(content);
      button.textContent = "Copied";
      said.textContent = "Copied";
    } catch {
      button.textContent = "Could not copy";
      said.textContent = "Could not copy";
    }
    button.focus();
    setTimeout(() => (button.textContent = before), 1500);
  });
})();
