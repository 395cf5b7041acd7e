# SPDX-License-Identifier: MIT
"""The table of tests/gate/measure, as it stands in docs/statistics.md between two marks."""
import datetime
import os
import platform
import re
import sys

BEGIN, END = "<!-- tests/gate/measure: begin -->", "<!-- tests/gate/measure: end -->"
MOST_RED_PAIRS, MOST_RED_RECIPE = 1 / 200, 1 / 1000
LEAST_FOUND_EXACT, LEAST_FOUND_VARYING = 0.99, 0.95
SHOWN = 8  # alarms of a suite


def of(part, whole):
    return f"{part} of {whole}" if whole else "-"


def found(counts):
    """`18 + 2 of 20`: red, in doubt."""
    red, doubt, made = counts
    return f"{red} + {doubt} of {made}" if made else "-"


def is_kept(result):
    """True where the limits hold: of what was measured often enough to tell."""
    power = result["power"]
    red = [result[how]["red"] <= most * result[how]["of"]
           for how, most in (("pairs", MOST_RED_PAIRS), ("recipe", MOST_RED_RECIPE))]
    named = [counts[0] + (counts[1] if how == "compare" else 0) >= least * counts[2]
             for what, how, least in (("exact", "compare", LEAST_FOUND_EXACT), ("exact", "recipe", LEAST_FOUND_EXACT),
                                      ("varying", "recipe", LEAST_FOUND_VARYING))
             for counts in [power.get(f"{what}_{how}", (0, 0, 0))]]
    return all(red + named)


def line(name, condition, result):
    power, slips, pairs, recipe = (result[part] for part in ("power", "slips", "pairs", "recipe"))
    shown = pairs["of"] * power["tests"]
    cells = [name, str(power["tests"]), condition.replace("-load-", ", load "), str(result["runs"]), of(pairs["red"], pairs["of"]),
             f"{100 * pairs['doubts'] / shown:.1f} %" if shown else "-", of(recipe["red"], recipe["of"]),
             str(recipe["further"][len(recipe["further"]) // 2]) if recipe["further"] else "-",
             found((slips["red"], slips["doubt"], slips["made"])),
             found(power.get("exact_compare", (0, 0, 0))), found(power.get("exact_recipe", (0, 0, 0))),
             str(power["varying_cells"]), found(power.get("varying_recipe", (0, 0, 0)))]
    return "| " + " | ".join(cells) + " |"


def alarms(results):
    """Each cell that was red without a reason, most often first."""
    cells = {}
    for (name, condition), result in results.items():
        for how in ("pairs", "recipe"):
            for test, syscall, detail, times in result[how]["cells"]:
                if syscall == "errored":
                    continue
                row = cells.setdefault((name, test, syscall + (f" {detail}" if detail else "")), {"pairs": {}, "recipe": {}})
                row[how][condition] = times
    return sorted(cells.items(), key=lambda one: (-sum(one[1]["pairs"].values()) - sum(one[1]["recipe"].values()), one[0]))


def text(results):
    agree, made = (sum(one["slips"][part] for one in results.values()) for part in ("agree", "in_tests"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    lines = [
        f"Measured on {datetime.date.today()}: {os.cpu_count()} vCPU, {memory:.0f} GiB, Linux {platform.release().split('-')[0]}, "
        f"glibc {platform.libc_ver()[1]}." + (" *load N*: while N processes were busy." if any("-load-" in one for _, one in results) else ""), "",
        "| suite | tests | under | runs | red, n=1 | in doubt, n=1 | red, recipe | further runs | a call slipped in, n=1 | "
        "written, n=1 | written, recipe | varying cells | +10 %, recipe |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    lines += [line(name, condition, result) for (name, condition), result in results.items()]
    total = sum(next(one["power"]["tests"] for (name, _), one in results.items() if name == suite)
                for suite in dict.fromkeys(name for name, _ in results))
    lines += ["", f"{total} tests. `bench` said the same of a call slipped into a test and of one written into the CSV in {of(agree, made)} cases."]
    rows = alarms(results)
    if rows:
        lines += ["", "What was red in runs that changed nothing:", "", "| suite | test | count | n=1 against n=1 | recipe |",
                  "|---|---|---|---|---|"]
        for suite in dict.fromkeys(name for name, _ in results):
            of_suite = [one for one in rows if one[0][0] == suite]
            for (name, test, cell), how in of_suite[:SHOWN]:
                shown = [", ".join(f"{condition} {times}" for condition, times in how[one].items()) for one in ("pairs", "recipe")]
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
