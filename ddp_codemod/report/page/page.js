"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const taken = data.units.map((unit) => unit.taken);
  const cards = [];
  const CONTEXT = 3;
  let onlyFile = -1;
  let current = 0;

  // Text from the project only ever becomes text nodes.
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "onclick" || name === "onchange" || name === "oninput") element.addEventListener(name.slice(2), value);
      else if (value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const word = (key, values = {}) =>
    data.words[key].replace(/\{(\w+)(?:\|([^{}|]*)\|([^{}|]*))?\}/g, (all, name, one, many) =>
      !(name in values) ? all : one === undefined ? String(values[name]) : values[name] === 1 ? one : many);
  const text = (line) => (typeof line === "string" ? line : line[0]);

  // ---- the patch: fragments joined and lines counted --------------------------------------------------------------------------
  const encoder = new TextEncoder();
  const bytesOf = (line) => (typeof line === "string" ? encoder.encode(line) : Uint8Array.from(atob(line[1]), (c) => c.charCodeAt(0)));
  const masksOf = (wanted) => {
    const masks = data.files.map((file) => file.blocks.map(() => 0));
    data.units.forEach((unit, at) => { if (wanted(at)) for (const [file, block, mask] of unit.parts) masks[file][block] |= mask; });
    return masks;
  };
  // What a block does, without the lines at either end that stay: {at, n, rows}, at from 0.
  const change = (block, mask) => {
    let rows = block.variants[mask], first = 0, last = rows.length;
    while (first < last && rows[first][0] === " ") first++;
    while (last > first && rows[last - 1][0] === " ") last--;
    const skipped = first;
    rows = rows.slice(first, last);
    return { at: block.at - 1 + skipped, n: rows.filter((row) => row[0] !== "+").length, rows, before: block.variants[mask].slice(0, first), after: block.variants[mask].slice(last) };
  };
  const filePatch = (file, masks) => {
    const changes = file.blocks.map((block, at) => masks[at] && { ...change(block, masks[at]) }).filter((one) => one && one.rows.length);
    if (!changes.length) return [];
    const stay = new Map(Object.entries(file.lines).map(([line, value]) => [Number(line), value]));
    for (const block of file.blocks) {  // the old lines of a block are context for its neighbours
      let line = block.at;
      const rows = Object.values(block.variants)[0];
      for (const row of rows) if (row[0] !== "+") stay.set(line++, row[1]);
    }
    const hunks = [];
    for (const one of changes) {
      const last = hunks[hunks.length - 1];
      if (last && one.at - last.end <= 2 * CONTEXT) { last.changes.push(one); last.end = one.at + one.n; }
      else hunks.push({ changes: [one], end: one.at + one.n });
    }
    const whole = file.blocks.every((block, at) => masks[at] === block.all);
    const out = [encoder.encode(file.head + (whole ? file.index : "") + file.marks)];
    const newline = encoder.encode("\n");
    const put = (sign, line, open) => {
      out.push(encoder.encode(sign), bytesOf(line), newline);
      if (open) out.push(encoder.encode("\\ No newline at end of file\n"));
    };
    let moved = 0;
    for (const hunk of hunks) {
      const start = Math.max(hunk.changes[0].at - CONTEXT, 0), end = Math.min(hunk.end + CONTEXT, file.total);
      const grown = hunk.changes.reduce((sum, one) => sum + one.rows.length - one.n - one.rows.filter((row) => row[0] === "-").length, 0);
      const range = (from, count) => (count === 1 ? `${from + 1}` : `${count ? from + 1 : from},${count}`);
      out.push(encoder.encode(`@@ -${range(start, end - start)} +${range(start + moved, end - start + grown)} @@`));
      if (file.headings[start]) out.push(bytesOf(["", file.headings[start]]));
      out.push(newline);
      let at = start, come = [];
      const old = (sign, line) => { put(sign, line, file.open && at + 1 === file.total); at++; };
      const flush = () => { for (const [, line, open] of come) put("+", line, open); come = []; };  // behind all that goes, as git has it
      const keep = (until) => { if (at < until) flush(); while (at < until) old(" ", stay.get(at + 1)); };
      for (const one of hunk.changes) {
        keep(one.at);
        for (const row of one.rows) {
          if (row[0] === "+") { come.push(row); continue; }
          if (row[0] === " ") flush();
          old(row[0], row[1]);
        }
      }
      keep(end);
      flush();
      moved += grown;
    }
    return out;
  };
  const patch = () => {
    const masks = masksOf((at) => taken[at]);
    return new Blob(data.files.flatMap((file, at) => filePatch(file, masks[at])), { type: "text/x-patch" });
  };

  // ---- colour ---------------------------------------------------------------------------------------------------------------
  const KEYWORDS = new Set("False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield match case".split(" "));
  const PIECE = /#.*|[rbfuRBFUtT]{0,2}(?:"""|'''|"|')|\d[\w.]*|[^\W\d]\w*|\s+|[^]/uy;
  const close = (line, at, quote) => {
    for (; at < line.length; at++) {
      if (line[at] === "\\") at++;
      else if (line.startsWith(quote, at)) return at + quote.length;
    }
    return -1;
  };
  // [[class, text]...] of one line, and the quotes of the string that is still open behind it
  const tokens = (line, state) => {
    const found = [];
    let at = 0;
    const string = (from, quote, inside) => {
      const end = close(line, inside, quote);
      found.push(["s", line.slice(from, end < 0 ? line.length : end)]);
      at = end < 0 ? line.length : end;
      return end < 0 && quote.length === 3 ? quote : "";
    };
    if (state) state = string(0, state, 0);
    while (at < line.length) {
      PIECE.lastIndex = at;
      const piece = PIECE.exec(line)[0];
      const quote = /["']+$/.exec(piece);
      if (piece[0] === "#") { found.push(["m", piece]); at += piece.length; }
      else if (quote) state = string(at, quote[0], at + piece.length);
      else { found.push([/^\d/.test(piece) ? "d" : KEYWORDS.has(piece) ? "k" : "", piece]); at += piece.length; }
    }
    return [found, state];
  };
  const paint = (found, from, to) => {
    const nodes = [];
    let at = 0;
    for (const [kind, piece] of found) {
      for (const [start, end] of [[at, Math.min(at + piece.length, from)], [Math.max(at, from), Math.min(at + piece.length, to)], [Math.max(at, to), at + piece.length]]) {
        if (start >= end) continue;
        const node = kind ? make("span", { class: kind }, piece.slice(start - at, end - at)) : document.createTextNode(piece.slice(start - at, end - at));
        nodes.push(start >= from && end <= to ? make("mark", {}, node) : node);
      }
      at += piece.length;
    }
    return nodes;
  };
  const difference = (old, young) => {
    let head = 0, tail = 0;
    const least = Math.min(old.length, young.length);
    while (head < least && old[head] === young[head]) head++;
    while (tail < least - head && old[old.length - 1 - tail] === young[young.length - 1 - tail]) tail++;
    return head + tail < 3 ? [0, 0] : [head, tail];
  };

  // ---- one change -----------------------------------------------------------------------------------------------------------
  const cell = (kind, number, nodes, side) => [
    make("div", { class: `n ${kind} ${side}`, "aria-hidden": "true" }, number === null ? "" : String(number)),
    make("div", { class: `c ${kind} ${side}` }, ...(nodes || [])),
  ];
  const diffOf = (file, block, mask, moved) => {
    const box = make("div", { class: "diff", role: "group", "aria-label": `${file.name}:${block.at}` });
    const made = change(block, mask);
    const context = (from, to) => {
      const rows = [];
      for (let line = from; line < to; line++) if (file.lines[line + 1] !== undefined) rows.push([" ", file.lines[line + 1]]);
      return rows;
    };
    const first = Math.max(block.at - 1 - CONTEXT, 0);
    const rows = [...context(first, block.at - 1), ...block.variants[mask], ...context(block.at - 1 + block.n, block.at - 1 + block.n + CONTEXT)];
    let before = block.state, after = block.state, old = first + 1, young = first + 1 + moved;
    const line = (left, right, kind) => box.append(make("div", { class: `line ${kind}` }, ...left, ...right));
    for (let at = 0; at < rows.length;) {
      if (rows[at][0] === " ") {
        const shown = text(rows[at][1]).replace(/\r$/, "");
        const [found, state] = tokens(shown, before);
        before = after = state;
        line(cell("", old++, paint(found, 0, 0), "left"), cell("", young++, paint(found, 0, 0), "right"), "same");
        at++;
        continue;
      }
      const gone = [], come = [];
      while (at < rows.length && rows[at][0] !== " ") (rows[at][0] === "-" ? gone : come).push(text(rows[at++][1]).replace(/\r$/, ""));
      const lefts = [], rights = [];
      for (let pair = 0; pair < Math.max(gone.length, come.length); pair++) {
        const left = gone[pair], right = come[pair];
        const [head, tail] = left !== undefined && right !== undefined ? difference(left, right) : [0, 0];
        const marked = head || tail;
        const side = (shown, state) => {
          const [found, open] = tokens(shown, state);
          return [paint(found, marked ? head : 0, marked ? shown.length - tail : 0), open];
        };
        let nodes;
        if (left !== undefined) { [nodes, before] = side(left, before); lefts.push(cell("gone", old++, nodes, "left")); }
        else lefts.push(cell("none", null, [], "left"));
        if (right !== undefined) { [nodes, after] = side(right, after); rights.push(cell("come", young++, nodes, "right")); }
        else rights.push(cell("none", null, [], "right"));
      }
      if (matchMedia("(max-width: 900px)").matches) {
        lefts.forEach((left) => line(left, [], "one"));
        rights.forEach((right) => line([], right, "one"));
      } else lefts.forEach((left, pair) => line(left, rights[pair], "two"));
    }
    return made.rows.length ? box : make("div");
  };
  const fill = (at) => {
    const card = cards[at];
    if (card.filled) return;
    card.filled = true;
    const unit = data.units[at];
    let last = unit.file;
    const moved = new Map();  // by how much the earlier parts of this change move the lines of a file
    for (const [file, block, mask] of [...unit.parts].sort((a, b) => (b[0] === unit.file) - (a[0] === unit.file))) {
      if (file !== last || unit.parts.some((part) => part[0] !== unit.file)) card.body.append(make("div", { class: "name where" }, data.files[file].name));
      last = file;
      card.body.append(diffOf(data.files[file], data.files[file].blocks[block], mask, moved.get(file) || 0));
      const grown = data.files[file].blocks[block].variants[mask].reduce((sum, [sign]) => sum + (sign === "+") - (sign === "-"), 0);
      moved.set(file, (moved.get(file) || 0) + grown);
    }
  };
  const card = (unit, at) => {
    const rule = data.rules[unit.rule];
    const yes = make("button", { class: "yes", type: "button", onclick: () => decide(at, true) }, word("accept"));
    const no = make("button", { class: "no", type: "button", onclick: () => decide(at, false) }, word("reject"));
    const where = `${data.files[unit.file].name}:${unit.line}`;
    const why = make("div", { class: "why" }, make("p", {}, unit.reason));
    if (unit.with.length) why.append(make("p", {}, word("with", { n: unit.with.length })), make("ol", {}, ...unit.with.map(([place, said]) => make("li", {}, make("span", { class: "where" }, place), " " + said))));
    if (unit.sites.length) {
      const steps = unit.sites.map((site) => [
        make("ol", {}, ...site.steps.map(([place, said, code]) => make("li", {}, make("span", { class: "where" }, place), ` ${said} `, ...(code ? [make("code", {}, code)] : [])))),
        ...(site.gives ? [make("p", {}, site.gives)] : []),
      ]);
      const details = make("details", unit.sites.length < 3 ? { open: "" } : {}, make("summary", {}, word("way", { n: unit.sites.length })), ...steps.flat());
      why.append(details);
    }
    const links = rule.links.map((link) => make("a", { href: link, rel: "noopener noreferrer", target: "_blank" }, link));
    why.append(make("p", {}, `${word("rule")} `, make("b", {}, unit.rule), `: ${rule.title}`), make("p", { class: "links" }, `${word("source")} `, ...links.flatMap((link, n) => (n ? [" · ", link] : [link]))));
    const body = make("div", { class: "body" });
    const element = make("article", { id: `u${at}`, tabindex: "-1", "aria-label": `${word("change", { n: at + 1, total: data.units.length })} ${where}` },
      make("div", { class: "head" },
        make("h2", {}, `${at + 1}. `, make("span", { class: "where" }, where)),
        make("span", { class: "badge" }, unit.rule),
        make("span", { class: `badge ${unit.sure}` }, data.sure[unit.sure]),
        make("div", { class: "choice", role: "group" }, yes, no)),
      why, body);
    element.addEventListener("focusin", () => { current = at; });
    element.addEventListener("pointerdown", () => { current = at; });
    return { element, yes, no, body, filled: false };
  };

  // ---- decisions and filters -----------------------------------------------------------------------------------------------
  const mark = (at) => {
    cards[at].element.dataset.taken = taken[at] ? "yes" : "no";
    cards[at].yes.setAttribute("aria-pressed", String(taken[at]));
    cards[at].no.setAttribute("aria-pressed", String(!taken[at]));
  };
  const decide = (at, yes) => { taken[at] = yes; mark(at); tell(); };
  const shown = () => data.units.map((_, at) => at).filter((at) => !cards[at].element.hidden);
  const every = (yes) => { for (const at of shown()) { taken[at] = yes; mark(at); } tell(); };
  const everyIn = (file, yes) => { data.units.forEach((unit, at) => { if (unit.file === file) { taken[at] = yes; mark(at); } }); tell(); };
  const tell = () => {
    const n = taken.filter(Boolean).length;
    count.textContent = word("count", { n, total: taken.length });
    save.disabled = copy.disabled = !n;
    files.forEach(({ tally, of }) => { tally.textContent = `${of.filter((at) => taken[at]).length}/${of.length}`; });
  };
  const filter = () => {
    const name = byName.value.trim().toLowerCase();
    data.units.forEach((unit, at) => {
      const inFile = onlyFile < 0 || unit.parts.some((part) => part[0] === onlyFile);
      const named = !name || unit.parts.some((part) => data.files[part[0]].name.toLowerCase().includes(name));
      cards[at].element.hidden = !(inFile && named && (!byRule.value || byRule.value === unit.rule) && (!bySure.value || bySure.value === unit.sure));
    });
    files.forEach(({ button }, file) => { if (button) button.setAttribute("aria-pressed", String(file === onlyFile)); });
    const left = shown();
    none.hidden = left.length > 0;
    if (left.length && cards[current].element.hidden) current = left[0];
  };
  const go = (step) => {
    const left = shown();
    if (!left.length) return;
    const at = left.indexOf(current);
    const next = document.activeElement && document.activeElement.closest("article") ? Math.min(Math.max(at + step, 0), left.length - 1) : Math.max(at, 0);
    current = left[next];
    fill(current);
    cards[current].element.focus({ preventScroll: true });
    cards[current].element.scrollIntoView({ block: "start" });
  };
  const download = () => {
    const link = make("a", { href: URL.createObjectURL(patch()), download: "ddp-codemod.patch" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    said.textContent = word("saved", { command: "git apply ddp-codemod.patch", project: data.project });
  };
  const copied = async () => {
    const shown = await patch().text();
    try { await navigator.clipboard.writeText(shown); said.textContent = word("copied"); }
    catch { said.textContent = word("not-copied"); }
  };
  const theme = () => {
    const dark = document.documentElement.dataset.theme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  };

  // ---- the page -------------------------------------------------------------------------------------------------------------
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const count = make("span", { class: "count", role: "status" });
  const said = make("span", { role: "status", class: "said" });
  const save = make("button", { class: "primary", id: "save", type: "button", onclick: download }, word("download"));
  const copy = make("button", { type: "button", id: "copy", onclick: copied }, word("copy"));
  const choose = (label, options, id) => make("select", { "aria-label": label, id, onchange: filter }, make("option", { value: "" }, label), ...options.map(([value, name]) => make("option", { value }, name)));
  const byRule = choose(word("by-rule"), Object.keys(data.rules).map((rule) => [rule, rule]), "by-rule");
  const bySure = choose(word("by-sure"), [...new Set(data.units.map((unit) => unit.sure))].map((sure) => [sure, data.sure[sure]]), "by-sure");
  const byName = make("input", { type: "search", id: "by-file", placeholder: word("by-file"), "aria-label": word("by-file"), oninput: filter });
  const keys = ["j / k", "y / n", "a / d", "s", "f", "t", "?"];
  const help = make("dialog", { "aria-label": word("help") }, make("dl", {}, ...keys.flatMap((key, at) => [make("dt", {}, key), make("dd", {}, word(`key-${at}`))])),
    make("button", { type: "button", onclick: () => help.close() }, word("close")));
  const files = data.files.map((file, at) => {
    const of = data.units.flatMap((unit, number) => (unit.parts.some((part) => part[0] === at) ? [number] : []));
    const tally = make("span", { class: "tally" });
    const button = make("button", { type: "button", "aria-pressed": "false", onclick: () => { onlyFile = onlyFile === at ? -1 : at; filter(); } }, make("span", {}, file.name), tally);
    return { button, tally, of };
  });
  const none = make("p", { class: "empty", hidden: "" }, word(data.units.length ? "none-shown" : "nothing"));
  const main = make("main", {}, none);
  if (data.run.head) main.append(make("section", { class: "run", "aria-label": data.run.head },
    make("h2", {}, data.run.head),
    make("ul", {}, ...data.run.groups.map((group) => make("li", { class: group.kind }, make("span", { class: "where" }, group.where), " ", group.said, ...group.more.map((line) => make("div", {}, line))))),
    ...(data.run.left ? [make("details", {}, make("summary", {}, data.run.left), make("ul", {}, ...data.run.sites.map(([where, name]) => make("li", {}, make("span", { class: "where" }, where), " ", name))))] : [])));
  data.units.forEach((unit, at) => { cards.push(card(unit, at)); main.append(cards[at].element); mark(at); });
  document.body.append(
    make("header", {},
      make("div", { class: "row" }, make("h1", {}, word("title", { project: data.project, platform: data.platform })), count, save, copy,
        make("button", { type: "button", id: "theme", onclick: theme }, word("theme")), make("button", { type: "button", id: "help", onclick: () => help.showModal() }, word("help"))),
      make("div", { class: "row" }, byName, byRule, bySure,
        make("button", { type: "button", id: "all-yes", onclick: () => every(true) }, word("accept-shown")), make("button", { type: "button", id: "all-no", onclick: () => every(false) }, word("reject-shown")), said)),
    make("div", { class: "layout" }, make("nav", { "aria-label": word("files") }, make("ul", {}, ...files.map(({ button }) => make("li", {}, button)))), main), help);
  const near = new IntersectionObserver((entries) => { for (const entry of entries) if (entry.isIntersecting) { fill(Number(entry.target.id.slice(1))); near.unobserve(entry.target); } }, { rootMargin: "1500px" });
  cards.forEach(({ element }) => near.observe(element));
  filter();
  tell();
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
      if (event.key === "Escape" && event.target === byName) { byName.value = ""; filter(); byName.blur(); }
      return;
    }
    const here = data.units[current];
    const acts = {
      j: () => go(1), k: () => go(-1), s: () => save.disabled || download(), t: theme, "?": () => help.showModal(), f: () => byName.focus(),
      y: () => { decide(current, true); go(1); }, n: () => { decide(current, false); go(1); },
      a: () => everyIn(here.file, true), d: () => everyIn(here.file, false),
    };
    if (acts[event.key] && data.units.length) { event.preventDefault(); acts[event.key](); }
  });
})();
