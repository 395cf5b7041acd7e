# SPDX-License-Identifier: MIT
"""The table of tests/gate/measure, as it stands in docs/statistics.md between two marks."""
import datetime
import os
import platform
import re
import sys

BEGIN, END = "<!-- tests/gate/measure: begin -->", "<!-- tests/gate/measure: end -->"
MOST_RED_PAIRS, MOST_RED_RECIPE = 1 / 20, 1 / 100
LEAST_FOUND_EXACT, LEAST_FOUND_VARYING = 0.99, 0.9
SHOWN = 8  # alarms of a suite


def of(pair):
    return f"{pair[0]} of {pair[1]}" if pair[1] else "-"


def added(*pairs):
    return tuple(map(sum, zip(*pairs))) if pairs else (0, 0)


def is_kept(result):
    """True where the limits hold: of what was measured often enough to tell."""
    power = result["power"]
    red = [result["pairs"]["red"] <= max(1, MOST_RED_PAIRS * result["pairs"]["of"]),
           result["recipe"]["red"] <= MOST_RED_RECIPE * max(100, result["recipe"]["of"])]
    found = [good >= least * made for what, least in (("exact", LEAST_FOUND_EXACT), ("varying", LEAST_FOUND_VARYING))
             for judge in ("compare", "recipe") for good, made in [power.get(f"{what}_{judge}", (0, 0))]]
    return all(red + found)


def line(name, backend, result):
    power, slips = result["power"], result["slips"]
    cells = [name, str(power["tests"]), backend, str(result["runs"]), of((result["pairs"]["red"], result["pairs"]["of"])),
             of((result["recipe"]["red"], result["recipe"]["of"])), of((slips["found"], slips["made"])),
             of(power.get("exact_compare", (0, 0))), of(power.get("exact_recipe", (0, 0))), str(power["varying_cells"]),
             of(power.get("varying_compare", (0, 0))), of(power.get("varying_recipe", (0, 0)))]
    return "| " + " | ".join(cells) + " |"


def alarms(results):
    """Each cell that was red without a reason, most often first."""
    cells = {}
    for (name, backend), result in results.items():
        for how in ("pairs", "recipe"):
            for test, syscall, detail, times in result[how]["cells"]:
                if syscall == "errored":
                    continue
                row = cells.setdefault((name, test, syscall + (f" {detail}" if detail else "")), {"pairs": {}, "recipe": {}})
                row[how][backend] = times
    return sorted(cells.items(), key=lambda one: (-sum(one[1]["pairs"].values()) - sum(one[1]["recipe"].values()), one[0]))


def text(results):
    made = added(*[(one["slips"]["agree"], one["slips"]["in_tests"]) for one in results.values()])
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    lines = [
        f"Measured on {datetime.date.today()}: {os.cpu_count()} vCPU, {memory:.0f} GiB, Linux {platform.release().split('-')[0]}, "
        f"glibc {platform.libc_ver()[1]}, other work on the machine all the time.", "",
        "| suite | tests | backend | runs | red: n=1 against n=1 | red: recipe | found: a call slipped in | found: written, n=1 | "
        "found: written, recipe | varying cells | +10 % found: n=1 | +10 % found: recipe |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    lines += [line(name, backend, result) for (name, backend), result in results.items()]
    total = sum(next(one["power"]["tests"] for (name, _), one in results.items() if name == suite)
                for suite in dict.fromkeys(name for name, _ in results))
    lines += ["", f"{total} tests. `bench` said the same of a call slipped into a test and of one written into the CSV in {of(made)} cases."]
    rows = alarms(results)
    if rows:
        lines += ["", "What was red in runs that changed nothing:", "", "| suite | test | count | n=1 against n=1 | recipe |",
                  "|---|---|---|---|---|"]
        for suite in dict.fromkeys(name for name, _ in results):
            of_suite = [one for one in rows if one[0][0] == suite]
            for (name, test, cell), how in of_suite[:SHOWN]:
                shown = [", ".join(f"{backend} {times}" for backend, times in how[one].items()) for one in ("pairs", "recipe")]
                lines.append(f"| {name} | {test} | {cell} | {shown[0]} | {shown[1]} |")
            if len(of_suite) > SHOWN:
                lines.append(f"| {suite} | and {len(of_suite) - SHOWN} more | | | |")
    return "\n".join(lines) + "\n"


def print_table(results, page):
    """Prints the table and puts it into the page; True when the limits are kept."""
    table = text(results)
    print(table)
    before = page.read_text(encoding="utf-8")
    if BEGIN not in before:
        sys.exit(f"{page} has no line {BEGIN}")
    after = re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: f"{BEGIN}\n{table}{END}", before, flags=re.S)
    page.write_text(after, encoding="utf-8")
    return all(is_kept(result) for result in results.values())
