// The page of the explorer. It asks the kernel (Session in session.py) and shows what it is told.
// Texts of a capture only ever become text nodes or the value of `title`: never markup, never a style.

const LIST_ROW = 25, RUNG = 30, GUTTER = 138, SPARE = 12;
const SVG = "http://www.w3.org/2000/svg";

/** An element with classes, text and children. */
function make(tag, css = "", text = "", ...children) {
  const node = document.createElement(tag);
  if (css) node.className = css;
  if (text) node.textContent = text;
  node.append(...children);
  return node;
}

function draw(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

const number = (value) => value.toLocaleString("en");
const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

/** A list of rows of one height, of which only those in sight exist. */
class Rows {
  constructor(host, height, { row, fetch, pick, above = 0 }) {
    Object.assign(this, { host, height, row, fetch, pick, above });
    this.tall = make("div", "tall");
    host.append(this.tall);
    host.tabIndex = 0;
    host.setAttribute("role", "listbox");
    this.nodes = new Map();
    this.known = new Map();
    this.total = 0;
    this.active = -1;
    this.era = 0;
    host.addEventListener("scroll", () => this.later());
    host.addEventListener("keydown", (event) => this.key(event));
    this.tall.addEventListener("click", (event) => {
      const node = event.target.closest("[data-row]");
      if (node) this.go(Number(node.dataset.row), event);
    });
    this.watch = new ResizeObserver(() => this.later());
    this.watch.observe(host);
  }

  close() {
    this.watch.disconnect();
  }

  /** Begin anew with other rows. */
  set(total, rows, { keep = false } = {}) {
    this.era += 1;
    this.total = total;
    this.known = new Map(rows.map((row, index) => [index, row]));
    this.waiting = null;
    if (!keep) {
      this.active = -1;
      this.host.scrollTop = 0;
    }
    this.redraw();
  }

  /** More rows than before, or rows that were missing. */
  add(total, from, rows) {
    this.total = total;
    rows.forEach((row, index) => this.known.set(from + index, row));
    this.paint();
  }

  redraw() {
    this.tall.replaceChildren();
    this.nodes.clear();
    this.paint();
  }

  later() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  paint() {
    this.tall.style.height = `${this.total * this.height}px`;
    const seen = this.host.clientHeight || 400;
    const top = Math.max(this.host.scrollTop - this.above, 0);
    const first = Math.max(Math.floor(top / this.height) - SPARE, 0);
    const last = Math.min(Math.ceil((top + seen) / this.height) + SPARE, this.total);
    for (const [index, node] of this.nodes) {
      if (index < first || index >= last) {
        node.remove();
        this.nodes.delete(index);
      }
    }
    let missing = -1;
    for (let index = first; index < last; index += 1) {
      const row = this.known.get(index);
      if (!row) {
        if (missing < 0) missing = index;
      } else if (!this.nodes.has(index)) {
        const node = this.row(row, index);
        node.dataset.row = index;
        node.setAttribute("role", "option");
        node.style.top = `${index * this.height}px`;
        node.style.height = `${this.height}px`;
        node.classList.toggle("active", index === this.active);
        this.nodes.set(index, node);
        this.tall.append(node);
      }
    }
    if (missing >= 0 && !this.waiting) this.load(Math.max(missing - 60, 0), Math.min(missing + 240, this.total));
  }

  async load(from, to) {
    const era = this.era;
    this.waiting = this.fetch(from, to);
    const rows = await this.waiting;
    if (era !== this.era) return;
    this.waiting = null;
    if (rows && rows.length) this.add(this.total, from, rows);
  }

  mark(index) {
    this.nodes.get(this.active)?.classList.remove("active");
    this.active = index;
    this.nodes.get(index)?.classList.add("active");
  }

  show(index) {
    const top = index * this.height + this.above;
    const seen = this.host.clientHeight;
    if (top < this.host.scrollTop + this.above || top + this.height > this.host.scrollTop + seen) {
      this.host.scrollTop = Math.max(top - seen / 2, 0);
    }
    this.paint();
  }

  go(index, event) {
    if (index < 0 || index >= this.total) return;
    this.mark(index);
    const row = this.known.get(index);
    if (row) this.pick(row, index, event);
  }

  key(event) {
    const page = Math.max(Math.floor(this.host.clientHeight / this.height) - 1, 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.total, End: this.total };
    const move = moves[event.key];
    if (move !== undefined) {
      const index = Math.min(Math.max(this.active + move, 0), this.total - 1);
      this.mark(index);
      this.show(index);
    } else if (event.key === "Enter" || event.key === " ") {
      this.go(this.active, event);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

class Explorer {
  constructor(model, el) {
    this.model = model;
    this.start = model.get("start");
    this.asked = 0;
    this.open = new Map();
    this.filter = {};
    this.which = 0;
    this.chosen = [];
    this.whole = false;
    this.heard = (message) => this.hear(message);
    model.on("msg:custom", this.heard);
    this.root = make("div", "wb-explorer");
    this.root.dataset.lmSuppressShortcuts = "true";
    this.build();
    el.append(this.root);
    this.show(this.start.view);
  }

  close() {
    this.closed = true;
    this.model.off("msg:custom", this.heard);
    for (const list of [this.threads, this.calls, this.findings, this.ladder]) list.close();
  }

  // ------------------------------------------------------------ asking

  ask(op, more = {}) {
    const id = (this.asked += 1);
    return new Promise((resolve) => {
      const slow = setTimeout(() => this.say("Waiting for the kernel…"), 4000);
      this.open.set(id, (answer) => {
        clearTimeout(slow);
        resolve(answer);
      });
      this.model.send({ ...more, id, op });
    });
  }

  hear(answer) {
    const resolve = this.open.get(answer?.id);
    if (!resolve) return;
    this.open.delete(answer.id);
    if (answer.error) this.say(answer.error, true);
    if (answer.stale && !this.closed) this.refresh();
    resolve(answer);
  }

  say(words = "", bad = false) {
    this.said.textContent = words;
    this.said.classList.toggle("bad", bad);
  }

  /** Ask for the view of the present filters; while an answer is awaited, only the last wish is kept. */
  async refresh() {
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    do {
      this.again = false;
      const { filter, which, chosen, whole, focus } = this;
      const answer = await this.ask("view", { filter, which, chosen, whole, focus });
      if (!answer.error && !this.again) this.show(answer);
    } while (this.again && !this.closed);
    this.busy = false;
  }

  // ------------------------------------------------------------ showing

  show(view) {
    this.which = view.which;
    this.focus = view.focus;
    this.chosen = view.chosen;
    this.threads.set(view.threads.total, view.threads.rows, { keep: true });
    this.calls.set(view.calls.total, view.calls.rows, { keep: false });
    this.findings.set(view.findings.total, view.findings.rows, { keep: true });
    this.count(this.threads, view.threads.total, view.all.threads);
    this.count(this.calls, view.calls.total, view.all.calls);
    this.count(this.findings, view.findings.total, view.all.findings);
    this.title.textContent = view.title;
    this.title.title = view.title;
    for (const [name, field] of Object.entries(this.fields)) {
      field.setAttribute("aria-invalid", name in view.wrong);
      field.title = view.wrong[name] || "";
    }
    const wrong = Object.values(view.wrong)[0];
    this.say(view.message || wrong || "", Boolean(wrong));
    this.wholeButton.disabled = !this.chosen.length && !this.narrow();
    this.wholeButton.setAttribute("aria-pressed", this.whole);
    this.differenceButton.textContent = `Difference (${this.picked()})`;
    this.rungs(view.ladder, { anew: true });
    this.fill(view.ladder);
  }

  narrow() {
    return Object.entries(this.filter).some(([name, value]) => name !== "thread" && value);
  }

  picked() {
    return this.start.traces.length > 1 ? "two calls or traces" : `${Math.min(this.chosen.length, 2)} of 2 calls`;
  }

  count(list, shown, all) {
    list.countNode.textContent = shown === all ? number(all) : `${number(shown)} of ${number(all)}`;
  }

  rungs(ladder, { anew = false } = {}) {
    if (ladder.stale || ladder.error) return;
    this.flow = ladder.flow;
    const names = ladder.people.map((person) => person.role + person.name).join("\n");
    if (anew || names !== this.names) {
      this.names = names;
      this.people = ladder.people;
      this.place();
      if (!anew) this.ladder.redraw();
    }
    if (anew) this.ladder.set(ladder.total, ladder.rows);
    else this.ladder.add(ladder.total, ladder.from, ladder.rows);
    const arrows = `${number(ladder.total)} rows${ladder.complete ? "" : "…"}`;
    this.ladder.countNode.textContent = ladder.total ? arrows : "";
    this.empty.hidden = ladder.total > 0 || !ladder.complete;
    this.explain();
  }

  /** Let the kernel make the rest of the ladder, a little at a time. */
  async fill(ladder) {
    const { flow } = ladder;
    const more = async (op) => {
      await new Promise((resolve) => setTimeout(resolve, 150));
      if (flow !== this.flow || this.closed) return null;
      return this.busy ? {} : this.ask(op, { flow });
    };
    let { complete } = ladder;
    while (!complete) {
      const answer = await more("grow");
      if (!answer || answer.stale || answer.error || flow !== this.flow) return;
      if (!answer.people) continue;
      complete = answer.complete;
      this.rungs(answer);
    }
    // then let it prepare the search for texts, so that the first one need not wait
    while (!this.warm?.[this.which]) {
      const answer = await more("warm");
      if (!answer || answer.error) return;
      if (answer.complete) this.warm = { ...this.warm, [this.which]: true };
    }
  }

  /** Columns of the lifelines: the pair that talks most stands wide apart. */
  place() {
    const wide = (left, right) => (["client", "agent"].every((role) => [left.role, right.role].includes(role)) ? 240 : 150);
    const x = [];
    let at = GUTTER + 66;
    this.people.forEach((person, index) => {
      if (index) at += wide(this.people[index - 1], person);
      x.push(at);
    });
    this.x = x;
    this.wide = Math.max(at + 260, this.ladder.host.clientWidth - 2);
    this.heads.replaceChildren(
      ...this.people.map((person, index) => {
        const node = make("div", `head ${person.role}`, person.name);
        node.title = person.name;
        node.style.left = `${x[index] - 62}px`;
        node.style.width = "124px";
        return node;
      }),
    );
    this.heads.style.width = `${this.wide}px`;
    this.ladder.tall.style.width = `${this.wide}px`;
  }

  rung(row) {
    const node = make("div", `rung ${row.k}`);
    node.style.width = `${this.wide}px`;
    if (row.k === "band" || row.k === "gap") {
      node.append(make("div", "words", row.text));
      node.title = row.text;
    } else if (row.k === "mark") {
      node.classList.add(row.severity);
      const words = make("div", "words", "", this.badge(row.severity), make("b", "", row.rule), document.createTextNode(row.text));
      words.title = `${row.rule}: ${row.text}`;
      node.append(words);
    } else {
      node.classList.toggle("chosen", this.chosen.includes(row.call) && this.whole);
      const [colour] = this.start.looks[row.look];
      const picture = draw("svg", { width: this.wide, height: RUNG });
      for (const x of this.x) picture.append(draw("line", { x1: x, x2: x, y1: 0, y2: RUNG, class: "life" }));
      picture.append(this.arrow(this.x[row.from], this.x[row.to], RUNG - 8, row.look, row.quiet));
      const left = Math.min(this.x[row.from], this.x[row.to]) + 8;
      const head = make("b", "", row.head);
      head.style.color = `var(--wb-${colour})`;
      const words = make("div", row.quiet ? "words soft" : "words", "", head, document.createTextNode(row.label));
      words.style.left = `${left}px`;
      words.style.maxWidth = `${Math.max(this.wide - left - 8, 120)}px`;
      words.title = `${row.head} ${row.label}`;
      const count = make("div", "gutter", row.number);
      count.style.left = "0";
      count.style.width = "70px";
      const time = make("div", "gutter", row.time);
      time.style.left = "70px";
      time.style.width = `${GUTTER - 74}px`;
      node.append(picture, count, time, words);
    }
    return node;
  }

  arrow(from, to, y, look, quiet) {
    const [colour, , dash, head, weight, double] = this.start.looks[look];
    const group = draw("g", { style: `color:var(--wb-${colour})` });
    const way = to >= from ? 1 : -1;
    const tip = to - way;
    const more = { class: "line", "stroke-width": quiet ? 1 : weight };
    if (dash) more["stroke-dasharray"] = dash;
    const end = tip - way * (head === "full" ? 9 : 2) - way * (double && head === "open" ? 4 : 0);
    for (const shift of double ? [-2, 2] : [0]) {
      group.append(draw("line", { x1: from, x2: end, y1: y + shift, y2: y + shift, ...more }));
    }
    group.append(draw("circle", { cx: from, cy: y, r: 2.5, class: "full" }));
    const back = -way * 9;
    if (head === "full") group.append(draw("path", { d: `M${tip} ${y}l${back} -5v10z`, class: "full" }));
    else if (head === "open") group.append(draw("path", { d: `M${tip + back} ${y - 5}L${tip} ${y}L${tip + back} ${y + 5}`, class: "line", "stroke-width": 1.5 }));
    else group.append(draw("path", { d: `M${tip + back} ${y - 5}l${-back} 10m0 -10l${back} 10`, class: "line", "stroke-width": 1.5 }));
    return group;
  }

  /** Samples of the arrows in sight. */
  explain() {
    const looks = new Set([...this.ladder.known.values()].filter((row) => row.k === "step").map((row) => row.look));
    const names = [...looks].sort().join();
    if (names === this.explained) return;
    this.explained = names;
    this.legend.replaceChildren(
      ...Object.keys(this.start.looks)
        .filter((name) => looks.has(name))
        .map((name) => {
          const sample = draw("svg", { width: 40, height: 14 });
          sample.append(this.arrow(4, 36, 7, name, false));
          return make("span", "", "", sample, document.createTextNode(this.start.looks[name][1]));
        }),
    );
  }

  badge(severity) {
    return make("span", `badge fixed ${severity}`, this.start.letters[severity] || "?");
  }

  // ------------------------------------------------------------ building

  build() {
    this.said = make("div", "said");
    this.said.setAttribute("role", "status");
    this.root.append(this.filters(), this.said, this.lists(), this.lower());
  }

  filters() {
    const bar = make("div", "filters");
    bar.setAttribute("role", "search");
    this.fields = {};
    const field = (name, label, node) => {
      this.fields[name] = node;
      node.dataset.filter = name;
      node.addEventListener("input", () => {
        this.filter = { ...this.filter, [name]: node.value };
        this.refresh();
      });
      bar.append(make("label", "", label, node));
    };
    const input = (hint = "", css = "") => {
      const node = make("input", css);
      node.type = "text";
      node.placeholder = hint;
      node.spellcheck = false;
      return node;
    };
    const select = (words, any) => {
      const node = make("select");
      node.append(new Option(any, ""), ...words.map((word) => new Option(word, word)));
      return node;
    };
    if (this.start.traces.length > 1) {
      const which = make("select");
      which.append(...this.start.traces.map((name, index) => new Option(`${index + 1}: ${name}`, index)));
      which.dataset.filter = "which";
      which.addEventListener("change", () => {
        Object.assign(this, { which: Number(which.value), chosen: this.kept?.[which.value] || [], focus: null });
        this.refresh();
      });
      bar.append(make("label", "", "trace", which));
    }
    field("thread", "thread", input());
    field("run", "run", input());
    field("call", "call id", input());
    const tool = input();
    const names = make("datalist");
    names.id = `wb-tools-${Math.random().toString(36).slice(2)}`;
    names.append(...this.start.tools.map((name) => new Option(name, name)));
    tool.setAttribute("list", names.id);
    bar.append(names);
    field("tool", "tool", tool);
    field("severity", "severity", select(this.start.severities, "any"));
    field("signal", "signal", select(this.start.signals, "any"));
    field("since", "from", input("+0 or 10:30", "short"));
    field("until", "to", input("+60 or 10:31", "short"));
    field("text", "text", input());
    if (!this.start.timed) {
      for (const name of ["since", "until"]) {
        this.fields[name].disabled = true;
        this.fields[name].placeholder = "no times";
      }
    }
    const clear = make("button", "", "Clear");
    clear.type = "button";
    clear.addEventListener("click", () => {
      this.reset();
      this.refresh();
    });
    const copy = make("button", "", "Copy as Markdown");
    copy.type = "button";
    copy.addEventListener("click", () => this.copy());
    bar.append(clear, copy);
    return bar;
  }

  /** Empty the filters, without asking. */
  reset() {
    this.filter = {};
    this.chosen = [];
    this.kept = { ...this.kept, [this.which]: [] };
    this.whole = false;
    for (const field of Object.values(this.fields)) field.value = "";
  }

  pane(name, label, height, options) {
    const host = make("div", "list");
    host.setAttribute("aria-label", label);
    const list = new Rows(host, height, options);
    list.countNode = make("span", "count");
    const bar = make("div", "bar", "", make("strong", "", label), list.countNode);
    const pane = make("section", `pane ${name}`, "", bar, host);
    this[name] = list;
    return pane;
  }

  lists() {
    const fetch = (op) => async (from, to) => (await this.ask(op, { from, to })).rows;
    const threads = this.pane("threads", "Threads", LIST_ROW, {
      fetch: fetch("threads"),
      row: (row) => {
        const node = make("div", "row", "", make("span", "wide mono", row.name), make("span", "fixed soft num", plural(row.calls, "call")));
        if (row.worst) node.append(this.badge(row.worst));
        node.classList.toggle("chosen", row.n === this.focus);
        node.title = `${row.name}: ${plural(row.runs, "run")}, ${plural(row.calls, "call")}, ${plural(row.findings, "finding")}`;
        return node;
      },
      pick: (row) => {
        this.focus = row.n;
        this.chosen = [];
        this.whole = false;
        if (this.narrow()) this.reset();
        this.refresh();
      },
    });
    const calls = this.pane("calls", "Calls", LIST_ROW, {
      fetch: fetch("calls"),
      row: (row) => {
        const [symbol, tone, words] = row.fate;
        const node = make("div", "row call");
        node.append(
          row.worst ? this.badge(row.worst) : make("span"),
          make("span", "mono", row.tool),
          make("span", "mono soft", row.id),
          make("span", "mono soft", row.arguments),
          make("span", "", row.decision),
          make("span", `badge fixed ${tone}`, symbol),
          make("span", "", words),
        );
        node.classList.toggle("chosen", this.chosen.includes(row.n));
        node.setAttribute("aria-selected", this.chosen.includes(row.n));
        node.title = `${row.tool} ${row.id}\n${row.arguments}\n${row.decision ? `${row.decision}, ` : ""}${words}\nthread ${row.thread} ${row.time}`;
        return node;
      },
      pick: (row, index, event) => this.choose(row.n, event.ctrlKey || event.metaKey || event.shiftKey),
    });
    calls.title = "Click to see one call, Ctrl-click to add another";
    const findings = this.pane("findings", "Findings", LIST_ROW, {
      fetch: fetch("findings"),
      row: (row) => {
        const node = make("div", "row", "", this.badge(row.severity), make("span", "fixed", row.rule), make("span", "wide soft", row.message));
        node.title = `${row.rule}: ${row.message}`;
        return node;
      },
      pick: (row) => this.jump(row.n),
    });
    return make("div", "lists", "", threads, calls, findings);
  }

  lower() {
    const pane = this.pane("ladder", "Ladder", RUNG, {
      above: 34,
      fetch: async (from, to) => {
        const answer = await this.ask("ladder", { flow: this.flow, from, to });
        return answer.rows;
      },
      row: (row) => this.rung(row),
      pick: (row) => row.step !== undefined && this.record(row.step),
    });
    const { host } = this.ladder;
    this.heads = make("div", "heads");
    host.prepend(this.heads);
    this.empty = make("p", "soft", "Nothing here fits the filter.");
    this.empty.style.padding = "0 12px";
    host.append(this.empty);
    this.title = pane.querySelector("strong");
    this.wholeButton = make("button", "", "Whole thread");
    this.wholeButton.type = "button";
    this.wholeButton.addEventListener("click", () => {
      this.whole = !this.whole;
      this.refresh();
    });
    this.title.after(this.wholeButton);
    this.legend = make("div", "legend");
    this.detail = make("div", "detail");
    this.detail.tabIndex = 0;
    this.detail.append(make("p", "soft", "Click an arrow to see its record."));
    this.detailTitle = make("strong", "", "Record");
    this.differenceButton = make("button", "", "Difference");
    this.differenceButton.type = "button";
    this.differenceButton.addEventListener("click", () => this.difference());
    const bar = make("div", "bar", "", this.detailTitle, this.differenceButton);
    const lower = make("div", "lower", "", pane, make("section", "pane record", "", bar, this.detail));
    return make("div", "", "", lower, this.legend);
  }

  // ------------------------------------------------------------ doing

  choose(n, more) {
    if (this.chosen.includes(n)) this.chosen = more || this.chosen.length === 1 ? this.chosen.filter((other) => other !== n) : [n];
    else this.chosen = more ? [...this.chosen, n] : [n];
    this.kept = { ...this.kept, [this.which]: this.chosen };
    this.refreshKeeping();
  }

  /** A choice leaves the list of calls where it is. */
  async refreshKeeping() {
    const { scrollTop } = this.calls.host;
    const { active } = this.calls;
    await this.refresh();
    this.calls.host.scrollTop = scrollTop;
    this.calls.mark(active);
    this.calls.paint();
  }

  async jump(n) {
    const answer = await this.ask("finding", { n });
    if (answer.error) return;
    this.reset();
    this.show(answer);
    this.findings.mark(n);
    this.findings.show(n);
    if (answer.row === undefined) return;
    this.ladder.show(answer.row);
    this.ladder.mark(answer.row);
    this.record(answer.step);
  }

  async record(step) {
    const answer = await this.ask("record", { flow: this.flow, step });
    if (answer.error || answer.stale) return;
    this.detailTitle.textContent = answer.title;
    const parts = [];
    for (const finding of answer.findings) {
      parts.push(make("p", "", "", this.badge(finding.severity), document.createTextNode(` ${finding.rule}: ${finding.message}`)));
      if (finding.help) parts.push(make("p", "soft", finding.help));
    }
    if (answer.joined) parts.push(make("h4", "", "Together"), make("pre", "", answer.joined));
    for (const record of answer.records) {
      const text = make("pre", "raw", record.raw);
      const title = make("h4", "", record.place || record.kind);
      parts.push(title);
      if (record.pretty) {
        const button = make("button", "", "Indent");
        button.type = "button";
        button.setAttribute("aria-pressed", false);
        button.addEventListener("click", () => {
          const on = button.getAttribute("aria-pressed") !== "true";
          button.setAttribute("aria-pressed", on);
          text.textContent = on ? record.pretty : record.raw;
        });
        parts.push(button);
      }
      parts.push(text);
      if (record.note) parts.push(make("p", "soft", record.note));
    }
    if (answer.more) parts.push(make("p", "soft", `${plural(answer.more, "more record")} not shown.`));
    this.detail.replaceChildren(...parts);
    this.detail.scrollTop = 0;
  }

  async difference() {
    const answer = await this.ask("difference");
    if (answer.error) return;
    this.detailTitle.textContent = answer.title;
    const table = (css, rows, cells) => {
      const body = make("tbody");
      for (const row of rows) body.append(make("tr", row.same ? "" : "differs", "", ...cells(row).map((text) => make("td", "", text))));
      return make("table", css, "", body);
    };
    const same = answer.steps.every((row) => row.same) && answer.facts.every((row) => row.same);
    const parts = [make("p", "soft", same ? "No difference, ids apart." : "What differs is coloured and marked ≠.")];
    const sign = (row, text) => (row.same ? text : `≠ ${text}`);
    parts.push(table("", answer.facts, (row) => [sign(row, row.head), row.left, row.right]));
    parts.push(make("h4", "", "Side by side"));
    parts.push(table("two", answer.steps, (row) => [sign(row, row.changed ? `${row.changed}: ${row.left}` : row.left), row.right]));
    if (answer.note) parts.push(make("p", "soft", answer.note));
    this.detail.replaceChildren(...parts);
    this.detail.scrollTop = 0;
  }

  async copy() {
    const { text, error } = await this.ask("markdown");
    if (error) return;
    try {
      await navigator.clipboard.writeText(text);
      this.say("Copied.");
    } catch {
      // no right to the clipboard: give it to be copied by hand
      const area = make("textarea");
      area.value = text;
      area.readOnly = true;
      const done = make("button", "", "Close");
      const sheet = make("div", "sheet", "", make("strong", "", "Copy this"), area, done);
      done.addEventListener("click", () => sheet.remove());
      this.root.append(sheet);
      area.select();
    }
  }
}

export default {
  render({ model, el }) {
    const explorer = new Explorer(model, el);
    return () => explorer.close();
  },
};
