"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const STEP = 200;  // rows that are put on the page at a time
  const SVG = "http://www.w3.org/2000/svg";
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";

  // What comes from a repository only ever becomes text nodes, and links below this page's own folder.
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const draw = (tag, attributes, ...children) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const word = (key, values = {}) =>
    data.words[key].replace(/\{(\w+)(?:\|([^{}|]*)\|([^{}|]*))?\}/g, (all, name, one, many) =>
      !(name in values) ? all : one === undefined ? String(values[name]) : values[name] === 1 ? one : many);
  const number = (value) => value.toLocaleString(document.documentElement.lang);

  // ---- totals ---------------------------------------------------------------------------------------------------------------
  const tiles = () => make("ul", { class: "tiles" }, ...data.tiles.map(([key, value]) =>
    make("li", {}, make("b", {}, typeof value === "number" ? number(value) : value), make("span", {}, word(`tile-${key}`)))));

  // ---- sites: a row for each framework and kind, as long as it has sites ---------------------------------------------------
  const ACTIONS = ["edit", "keep", "review"];
  const plot = () => {
    if (!data.sites.length) return make("p", { class: "note" }, word("no-sites"));
    // on a narrow screen a row's name stands above its bar
    const [ROW, BAR, LEFT, WIDTH] = matchMedia("(max-width: 600px)").matches ? [40, 18, 0, 300] : [26, 4, 240, 430], RIGHT = 60;
    const most = Math.max(...data.sites.map((row) => row.counts.reduce((a, b) => a + b, 0)));
    const height = data.sites.length * ROW;
    const svg = draw("svg", { viewBox: `0 0 ${LEFT + WIDTH + RIGHT} ${height}`, role: "img", "aria-label": word("sites") });
    data.sites.forEach((row, at) => {
      const y = at * ROW, sum = row.counts.reduce((a, b) => a + b, 0);
      const place = LEFT ? { x: LEFT - 10, y: y + 17, "text-anchor": "end" } : { x: 0, y: y + 13 };
      svg.append(draw("text", place, `${row.framework} · ${row.kind}`));
      let x = LEFT;
      row.counts.forEach((count, which) => {
        if (!count) return;
        const width = Math.max((count / most) * WIDTH, 2);
        svg.append(draw("rect", { x, y: y + BAR, width, height: 18, class: `fill-${ACTIONS[which]}` },
          draw("title", {}, `${word(ACTIONS[which])}: ${number(count)}`)));
        x += width;
      });
      svg.append(draw("text", { x: x + 8, y: y + BAR + 13, class: "tally" }, number(sum)));
    });
    const key = make("ul", { class: "key" }, ...ACTIONS.map((action, which) => make("li", {},
      make("i", { class: `fill-${action}` }),
      `${word(action)}: ${number(data.sites.reduce((sum, row) => sum + row.counts[which], 0))}`)));
    return make("div", {}, key, svg, make("p", { class: "note" }, word("shared")));
  };

  // ---- failures by type -----------------------------------------------------------------------------------------------------
  const failures = () => {
    if (!data.troubles.length) return make("p", { class: "note" }, word("no-failures"));
    return make("table", {}, make("tbody", {}, ...data.troubles.map(([state, count]) => make("tr", {},
      make("td", {}, make("button", { type: "button", onclick: () => show(state) }, word(`state-${state}`))),
      make("td", { class: "num" }, number(count)), make("td", { class: "detail" }, word(`what-${state}`))))));
  };

  // ---- repositories ---------------------------------------------------------------------------------------------------------
  const NUMBERS = ["effort", "edits", "review", "not_applied", "notes", "skipped"];
  const bad = (row) => data.failed.includes(row.state);
  let sort = "effort", up = false, shown = STEP, state = "", search = "";
  const body = make("tbody");
  const count = make("span", { class: "count", role: "status" });
  const more = make("button", { type: "button", onclick: () => { shown += STEP; fill(); } }, word("more"));
  const link = (row, key, said) => make("a", { href: row.folder.split("/").map(encodeURIComponent).join("/") + "/" + row.links[key] }, said);
  const line = (row) => {
    const links = Object.keys(row.links).map((key) => link(row, key, word(key)));
    const first = ["page", "text"].find((key) => row.links[key]);
    const name = make("div", { class: "name" }, first ? link(row, first, row.repository) : row.repository);
    const about = [row.platform, row.ref !== row.commit && row.ref, row.commit && row.commit.replace(/^files-/, "").slice(0, 12)].filter(Boolean);
    const badge = make("span", { class: `badge ${bad(row) ? "bad" : row.effort ? "unsafe" : "safe"}` }, word(`state-${row.state}`));
    return make("tr", {},
      make("td", {}, name, make("div", { class: "about" }, ...about.map((one) => make("code", {}, one)))),
      ...(bad(row)
        ? [make("td", { colspan: NUMBERS.length + 1 }, badge, make("div", { class: "detail" }, row.detail))]
        : [make("td", {}, badge), ...NUMBERS.map((key) => make("td", { class: "num" }, number(row[key])))]),
      make("td", { class: "num" }, row.seconds.toFixed(1)),
      make("td", {}, make("div", { class: "links" }, ...links)));
  };
  const fill = () => {
    const rows = data.repositories.filter((row) => (!state || row.state === state) && (!search || row.repository.toLowerCase().includes(search)));
    if (sort !== "effort") rows.sort((a, b) => (up ? 1 : -1) * (sort === "repository" ? a.repository.localeCompare(b.repository) : a[sort] - b[sort]));
    else if (up) rows.reverse();
    body.replaceChildren(...rows.slice(0, shown).map(line));
    count.textContent = word("shown", { shown: number(Math.min(shown, rows.length)), n: number(rows.length) });
    more.hidden = rows.length <= shown;
    for (const head of document.querySelectorAll("thead th[data-key]")) head.setAttribute("aria-sort", head.dataset.key !== sort ? "none" : up ? "ascending" : "descending");
  };
  const choose = make("select", { "aria-label": word("filter"), onchange: () => { state = choose.value; shown = STEP; fill(); } },
    make("option", { value: "" }, word("all")),
    ...data.states.map((one) => make("option", { value: one }, word(`state-${one}`))));
  const show = (wanted) => { choose.value = state = wanted; shown = STEP; fill(); choose.scrollIntoView({ block: "start" }); choose.focus(); };
  const find = make("input", { type: "search", placeholder: word("search"), "aria-label": word("search"), oninput: () => { search = find.value.toLowerCase(); shown = STEP; fill(); } });
  const head = (key, numeric) => make("th", { scope: "col", class: numeric ? "num" : undefined, "data-key": key },
    make("button", { type: "button", title: word(`about-${key}`), onclick: () => { up = sort === key ? !up : !numeric; sort = key; fill(); } }, word(key)));
  const table = make("table", {}, make("thead", {}, make("tr", {}, head("repository"), make("th", { scope: "col" }, word("state")),
    ...NUMBERS.map((key) => head(key, true)), head("seconds", true), make("th", { scope: "col" }, word("results")))), body);

  const section = (key, ...parts) => make("section", { "aria-label": word(key) }, make("h2", {}, word(key)), ...parts);
  document.body.append(
    make("header", {}, make("div", { class: "row" }, make("h1", {}, data.title), make("span", { class: "where" }, data.made))),
    make("main", { class: "wide" }, tiles(),
      ...data.estimate.map((said) => make("p", { class: "note" }, said)),
      make("div", { class: "two" }, section("sites", plot()), section("failures", failures())),
      make("div", { class: "bar" }, make("h2", {}, word("repositories")), count, choose, find),
      make("p", { class: "note" }, word("effort-is")),
      make("div", { class: "scroll" }, table), make("p", {}, more)));
  fill();
})();
