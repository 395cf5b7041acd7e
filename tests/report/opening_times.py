# SPDX-License-Identifier: MIT
"""How long a browser takes to open a report, and to sort, filter and open a test: opening_times.py REPORT

Prints times; judges nothing.
"""
import statistics
import sys

import browser

TIMES = """(() => {
  const times = performance.getEntriesByType("navigation")[0];
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return [paint?.startTime ?? null, times.domContentLoadedEventEnd, times.loadEventEnd];
})()"""
ACTIONS = """(async () => {
  const times = [performance.now()];
  [...document.querySelectorAll("th button")].find((one) => one.textContent === "Wall").click();
  times.push(performance.now());
  const box = document.querySelector("input");
  box.value = "cache";
  box.dispatchEvent(new Event("input"));
  times.push(performance.now());
  document.querySelector(".tests > tbody > tr:not([hidden]) a").click();
  await new Promise((done) => {
    const look = () => document.querySelector(".open[data-ready]") ? done() : requestAnimationFrame(look);
    look();
  });
  times.push(performance.now());
  return times.slice(1).map((time, i) => time - times[i]);
})()"""

with browser.Browser(browser.find(), limit_s=300) as page:
    page.size(1200, 900)
    opened = []
    for _ in range(11):
        page.open(sys.argv[1])
        opened.append(page.run(TIMES))
    for number, what in enumerate(("first painting", "script has run", "loaded")):
        values = [times[number] for times in opened if times[number] is not None]
        print(f"{what}: median {statistics.median(values):.0f} ms, at most {max(values):.0f} ms, {len(values)} times")
    for what, took in zip(("sort", "filter", "open a test"), page.run(ACTIONS)):
        print(f"{what}: {took:.0f} ms")
