// What a report does in a browser: sorts, filters and opens tests, by mouse and keyboard.
//
// The report is readable without this script: every table and chart is HTML. The script adds the controls that need it.
// What a row opens is packed (bench packs a "card" for each test), because the cards of thousands of tests would make the
// file large and slow. The script writes no HTML but these cards, and bench has escaped what they hold.
"use strict";
(() => {
  const kShownAtFirst = 50;
  const kShownMore = 500;
  const kSeparator = "\x1e";  // between the cards of a pack

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // The cards of a pack, once they were asked for.
  const packs = new Map();
  const unpacked = async (pack) => {
    const base64 = document.getElementById(pack).textContent;
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return (await new Response(plain).text()).split(kSeparator);
  };
  const cardOf = async (row) => {
    const [pack, index] = row.dataset.card.split(".");
    if (!packs.has(pack)) packs.set(pack, unpacked(pack));
    try {
      return (await packs.get(pack))[Number(index)];
    } catch (error) {
      return "<p>This browser cannot unpack the details of a test: a newer one is needed.</p>";
    }
  };

  // Sorts a table by a click on the title of a column: `all` are its rows, as { row }, and `place` puts them in their new
  // order. A second click turns the order round. A third one brings the order of the file back, the worst first.
  const sortable = (table, all, place) => {
    const inFileOrder = [...all];
    const collator = new Intl.Collator("en", { numeric: true });
    const sort = (column, isNumber, direction) => {
      const key = ({ row }) => row.cells[column].dataset.n;
      const text = ({ row }) => row.cells[column].textContent;
      all.sort((a, b) => {
        if (!isNumber) return direction * collator.compare(text(a), text(b));
        const [x, y] = [key(a), key(b)];
        // What was not measured comes last, in both directions.
        if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
        return direction * (x - y);
      });
    };
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const isNumber = all.some(({ row }) => row.cells[column].dataset.n !== undefined);
      const button = make("button", { type: "button" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const first = isNumber ? "descending" : "ascending";
        const second = isNumber ? "ascending" : "descending";
        const before = head.getAttribute("aria-sort");
        for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
        if (before === second) {
          all.splice(0, all.length, ...inFileOrder);
        } else {
          const order = before === first ? second : first;
          head.setAttribute("aria-sort", order);
          sort(column, isNumber, order === "ascending" ? 1 : -1);
        }
        place();
      });
    });
  };

  // The parts of a test that was opened, as buttons: its lines and its history may be far below.
  const jumps = (cell) => {
    const titles = [...cell.querySelectorAll("h3")];
    if (titles.length < 2) return;
    const buttons = titles.map((title) => {
      title.tabIndex = -1;
      const button = make("button", { type: "button", textContent: title.textContent });
      button.addEventListener("click", () => { title.scrollIntoView(); title.focus({ preventScroll: true }); });
      return button;
    });
    cell.querySelector(".figures").after(make("div", { className: "tools jumps" }, ...buttons));
  };

  // A table of tests: which of its rows match the filter, in which order, and how many of them are shown.
  const control = (table) => {
    const body = table.tBodies[0];
    const all = [...body.rows].map((row) => ({ row, text: row.textContent.toLowerCase() }));
    let most = kShownAtFirst;
    let words = [];

    const filter = make("input", { type: "search", placeholder: "Filter: words of a name, an outcome, a syscall" });
    filter.setAttribute("aria-label", "Filter tests");
    const found = make("span", { className: "quiet" });
    found.setAttribute("role", "status");
    table.parentElement.before(make("div", { className: "tools" }, filter, found));
    const more = make("button", { type: "button", className: "more" });
    const rest = make("button", { type: "button", className: "more", textContent: "Show all" });
    table.parentElement.after(more, rest);

    const opened = (row) => row.nextElementSibling?.classList.contains("open") ? row.nextElementSibling : null;
    const show = () => {
      let matching = 0;
      for (const { row, text } of all) {
        const matches = words.every((word) => text.includes(word));
        if (matches) ++matching;
        row.hidden = !matches || matching > most;
        const card = opened(row);
        if (card) card.hidden = row.hidden;
      }
      body.classList.add("ready");
      const shown = Math.min(matching, most);
      found.textContent = `${shown} of ${matching === all.length ? "" : `${matching} that match, of `}${all.length}`;
      more.hidden = rest.hidden = shown === matching;
      more.textContent = `Show ${Math.min(kShownMore, matching - shown)} more`;
    };

    const toggle = async (row) => {
      const link = row.cells[0].querySelector("a");
      const card = opened(row);
      if (card) {
        card.remove();
        link.setAttribute("aria-expanded", "false");
        return;
      }
      link.setAttribute("aria-expanded", "true");
      history.replaceState(null, "", "#" + row.id);  // an address that opens this test again
      const cell = make("td", { colSpan: row.cells.length });
      const holder = make("tr", { className: "open" }, cell);
      row.after(holder);
      cell.innerHTML = await cardOf(row);
      jumps(cell);
      holder.dataset.ready = "";
    };

    const reorder = () => {
      const rows = document.createDocumentFragment();
      for (const { row } of all) {
        const card = opened(row);
        rows.append(row);
        if (card) rows.append(card);
      }
      body.append(rows);
      show();
    };

    sortable(table, all, reorder);
    body.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-card]");
      const link = event.target.closest("a");
      if (!row || row.parentElement !== body || (link && link.parentElement !== row.cells[0])) return;
      if (!link && String(getSelection())) return;  // the person marks text to copy it
      event.preventDefault();
      toggle(row);
    });
    filter.addEventListener("input", () => {
      words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      most = kShownAtFirst;
      show();
    });
    more.addEventListener("click", () => { most += kShownMore; show(); });
    rest.addEventListener("click", () => { most = Infinity; show(); });
    for (const { row } of all) row.cells[0].querySelector("a").setAttribute("aria-expanded", "false");
    show();

    // Links to a test, of this page or in the address, open it.
    const follow = () => {
      const row = all.find((one) => "#" + one.row.id === location.hash)?.row;
      if (!row) return;
      row.hidden = false;
      if (opened(row)) opened(row).hidden = false;
      else toggle(row);
      row.scrollIntoView();
    };
    addEventListener("hashchange", follow);
    addEventListener("click", (event) => {  // a link to the address that the page has already
      const link = event.target.closest?.("a[href^='#t']");
      if (link && link.hash === location.hash && !table.contains(link)) follow();
    });
    follow();

    // The next or previous row that is shown gets the focus.
    const move = (by) => {
      const rows = [...body.rows].filter((row) => row.dataset.card && !row.hidden);
      const at = rows.findIndex((row) => row.contains(document.activeElement));
      const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))];
      next?.cells[0].querySelector("a").focus();
    };
    return { table, filter, move, clear: () => { filter.value = ""; filter.dispatchEvent(new Event("input")); } };
  };

  const tables = [...document.querySelectorAll("table.tests")].map(control);
  for (const table of document.querySelectorAll("table.sortable")) {
    const all = [...table.tBodies[0].rows].map((row) => ({ row }));
    sortable(table, all, () => table.tBodies[0].append(...all.map(({ row }) => row)));
  }
  const current = () => tables.find(({ table }) => table.contains(document.activeElement)) ?? tables[0];
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || tables.length === 0) return;
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.key === "Escape" && isTyping) {
      tables.find(({ filter }) => filter === event.target)?.clear();
      event.target.blur();
    } else if (!isTyping && event.key === "/") {
      event.preventDefault();
      current().filter.focus();
    } else if (!isTyping && (event.key === "j" || event.key === "k")) {
      current().move(event.key === "j" ? 1 : -1);
    }
  });
})();
