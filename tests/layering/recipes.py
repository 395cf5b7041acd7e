#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recipes of CONTRIBUTING.md name the right files, and each class, backend, column and command is in all of them:
recipes.py SOURCE

A recipe is a numbered list below a heading. RECIPES has the files of each item, in the page's order, and what the file
holds that the step is about. {backend} and the like stand for each one that there is, so a place that was forgotten is a
fault that names the file and the step.
"""
import os
import re
import sys

SCHEMA = "plugin/include/syscost/schema.h"
OPTIONS = "plugin/src/session/options"
EXTRAS = "plugin/src/extras"
BENCH = "bench_tool/src"

# Heading -> items -> (file, pattern).
RECIPES = {
    "Add a syscall class": [
        [(SCHEMA, r'X\(\w+, "{class}"\)')],
        [("tools/gen_syscall_table.py", r'(?m)^    "{class}": ')],
        [("docs/flags.md", r"a class: .*%{class}\b"), ("tests/docs/flags_page_test.cc", r"std::string classes\(\)")],
        [("tests/unit/core/syscall_table_test.cc", r'"[\w;]*\b{class}\b[\w;]*"')],
    ],
    "Add a backend": [
        [("plugin/src/backends/{folder}/CMakeLists.txt", r"syscost_backend_{folder} INTERFACE SYSCOST_HAS_"),
         ("plugin/src/core/backend.h", r"class Backend "),
         ("plugin/src/backends/seccomp/seccomp_backend.h", r"open_backend\(")],
        [("plugin/src/backends/CMakeLists.txt", r"set\(backends[^)]*\b{folder}\b")],
        [(f"{OPTIONS}/options.h", r"enum class BackendChoice [^}]*\b{choice}\b"),
         (f"{OPTIONS}/option_table.h", r'(?s)kBackendWords = {(?:(?!\n};).)*Word{"{backend}",'),
         (f"{OPTIONS}/option_table.h", r'kBackendWords = {\s*Word{"auto", "[^"]*\b{folder}\b')],
        [("plugin/src/session/backends/open_backend.cc", r"{BackendChoice::{choice}, "),
         ("plugin/src/session/backends/open_backend.cc", r'"backends/{folder}/'),
         (f"{EXTRAS}/dispatch_abilities.cc", r"abilities")],
        [("tests/layering/check_layers.py", r'(?m)^    "backends/{folder}": '),
         ("tests/layering/check_layers.py", r'"session/backends": [^\]]*"backends/{folder}"')],
        [(f"{EXTRAS}/trace/session/backend_wish.cc", r"refusal_of_traces"),
         (f"{EXTRAS}/children/options/children_options.cc", r"use --syscost_backend "), ("plugin/src/extras/where/options/where_options.cc", r"use --syscost_backend "),
         ("plugin/src/core/cost.cc", r"Use one that can: --syscost_backend "),
         ("plugin/src/bench_run/command.cc", r"use --backend=")],
        [("tests/unit/{folder}/CMakeLists.txt", r"syscost_backend_{folder}")],
        [("tests/conformance/backends.cc", r'{\.name = "{backend}"')],
        [("tests/backends.py", r'(?m)^BACKENDS = .*"{backend}"'), ("tests/backends.py", r'(?m)^AUTOMATIC = .*"{folder}"'),
         ("tests/adapters/surroundings_test.py", r"(?m)^    Place\("),
         ("tests/attack/hostile/expectations.py", r"(?m)^KNOWN = "),
         ("tests/kernels/checks.py", r'(?m)^FIRST = .*"{backend}": \('),
         ("tests/soak/CMakeLists.txt", r"\b{folder}\b"), ("tests/agent/run_test.py", r'"{folder}"'),
         ("tests/shell/completions_test.py", r"\b{backend}\b")],
        [("tests/overhead/worker.cc", r"\b{folder}::open_backend\("), ("tests/overhead/instruments.cc", r'armed", nullptr,'),
         ("tests/overhead/start_up.cc", r'"{folder}"'), ("tests/overhead/commands.cc", r'with\("'), ("docs/performance.md", r"\b{backend}\b")],
        [("docs/backends.md", r"(?m)^\| {backend} \|"), ("docs/security.md", r"\b{folder}\b"), ("docs/csv-format.md", r"`{backend}`"), ("docs/index.md", r"`{backend}`"),
         ("docs/architecture.md", r"`plugin/src/backends/{folder}`"), ("docs/run-anything.md", r"\b{backend}\b"), ("README.md", r"`{folder}`"),
         ("CHANGELOG.md", r"(?m)^## \[Unreleased\]")],
    ],
    "Add a column to bench summary": [
        [(f"{BENCH}/stats/window_summary.h", r"struct WindowSummary "), (f"{BENCH}/stats/window_summary.cc", r"WindowSummary summarize\(")],
        [(f"{BENCH}/commands/shared/summary_tables.cc", r"Table tests_table\("), (f"{BENCH}/commands/shared/summary_tables.cc", r"Table totals_table\("),
         (f"{BENCH}/commands/shared/summary_tables.cc", r"Table syscall_table\("), (f"{BENCH}/commands/shared/summary_tables.cc", r"Table loop_table\("),
         (f"{BENCH}/commands/shared/summary_tables.cc", r"OverviewLine overview_line\("),
         (f"{BENCH}/commands/shared/summary_tables.h", r"struct OverviewLine "), (f"{BENCH}/commands/shared/summary_tables.h", r"struct SyscallTotal "),
         (f"{BENCH}/commands/shared/summary_overview.cc", r"Overview::add_totals\(")],
        [(f"{BENCH}/commands/summary/summary_machine.cc", r"kCsvColumns\[\] = "), (f"{BENCH}/commands/summary/summary_machine.cc", r"Json window_json\("),
         (f"{BENCH}/commands/summary/summary_machine.cc", r"Json syscall_json\("), ("docs/bench.md", r"(?m)^### Keys of other commands")],
        [("tests/unit/bench/summary_test.cc", r"TEST\(Summary, ")],
    ],
    "Add a column to the CSV": [
        [(SCHEMA, r"kSchemaVersion = "), (SCHEMA, r"SYSCOST_CSV_COLUMNS\(")],
        [("plugin/src/csv/window_rows.h", r"struct WindowColumns "), ("plugin/src/csv/window_rows.cc", r"Column::{own_column}\b"), ("plugin/src/extras/leaks/session/leaks.cc", r"Column::{observed_column}\b"),
         ("plugin/src/core/tally.h", r"struct Tally "), ("plugin/src/backends/ebpf/segments.cc", r"into\.latency\."),
         ("plugin/src/backends/dispatch/segments.cc", r"into\.latency\."),
         ("plugin/src/session/two_process/cost_text.cc", r"Cost cost_from_text\(")],
        [("docs/csv-format.md", r"(?m)^\| `{column_name}` \|")],
        [(f"{BENCH}/model/dataset.h", r"struct Totals "), (f"{BENCH}/model/row_store.h", r"struct SyscallRow "),
         (f"{BENCH}/model/row_parser.cc", r"Column::{read_column}\b"), (f"{BENCH}/model/row_store.h", r"kRowSums = "),
         (f"{BENCH}/model/row_store.cc", r"kNumbers = ")],
        [("tests/unit/csv/window_rows_test.cc", r"TEST_?F?\("), ("tests/unit/bench/row_columns_test.cc", r"TEST\("), ("tests/cli/make_data.py", r"def row\(")],
    ],
    "Add a flag": [
        [(f"{OPTIONS}/options.h", r"struct Options "), ("plugin/src/extras/extra_options.h", r"struct ExtraOptions ")],
        [(f"{OPTIONS}/option_table.cc", r"kOptions = "), (f"{OPTIONS}/option_table.h", r"std::array \w+Words = "),
         (f"{EXTRAS}/option_parts.cc", r"option_parts\(\) {"), (f"{EXTRAS}/option_parts.h", r"extern const OptionPart ")],
        [("tests/unit/session/options_test.cc", r"TEST\(")],
    ],
    "Add an option to bench": [
        [(f"{BENCH}/cli/options.h", r"struct Options ")],
        [(f"{BENCH}/commands/scale/scale_command.cc", r"line\.add_flag\("), (f"{BENCH}/cli/arguments.cc", r"app\.add_option\(")],
    ],
    "Add a command to bench": [
        [("bench_tool/src/commands/{command}/{command}_command.cc", r"constinit const cli::Command k"), (f"{BENCH}/commands/groups/groups_command.cc", r"const cli::Command ")],
        [(f"{BENCH}/commands/commands.h", r"X\(k{command_constant}Command\)")],
        [("bench_tool/CMakeLists.txt", r"/{command}_command\.cc")],
        [("tests/layering/check_layers.py", r'(?m)^    "commands/{command}": ')],
        [("tests/consumer/packages/syscost-tools.files", r"\bbench-{command}\b")],
        [("tests/cli/cases/groups_csv.txt", r"(?m)^")],
        [("docs/bench.md", r"(?m)^## Exit codes"), ("docs/index.md", r"(?m)^\|"), ("CHANGELOG.md", r"(?m)^## \[Unreleased\]")],
    ],
}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def instances(source):
    """What there is of each kind. Of two places that list them both count, so that neither can be forgotten."""
    schema = read(source, SCHEMA)
    columns = dict(re.findall(r'X\((k\w+), "(\w+)"\)', schema))
    # leaks.cc adds these; an observer of its own would get a place of its own in RECIPES.
    observed = {"kDescriptorsLeft", "kThreadsLeft", "kChildrenLeft", "kMappedBytesLeft", "kPeakMappedBytes", "kLeftOpen"}
    generator = read(source, "tools/gen_syscall_table.py")
    folders = [name for name in os.listdir(os.path.join(source, "plugin/src/backends"))
               if name != "common" and os.path.isdir(os.path.join(source, "plugin/src/backends", name))]
    words = re.search(r"kBackendWords = {(.*?)\n};", read(source, OPTIONS, "option_table.h"), re.DOTALL)[1]
    python = re.search(r"(?m)^BACKENDS = .*", read(source, "tests/backends.py"))[0]
    backends = {*re.findall(r'Word{"([\w-]+)"', words), *re.findall(r'"([\w-]+)"', python), *folders} - {"auto", "none"}
    commands = {name[: -len("_command.cc")] for _, _, names in os.walk(os.path.join(source, BENCH, "commands"))
                for name in names if name.endswith("_command.cc")}
    return {
        "command": commands,
        "command_constant": {name.capitalize() for name in commands},
        "class": {*re.findall(r'(?m)^  X\((?!k[A-Z])\w+, "(\w+)"\)', schema),
                  *re.findall(r'(?m)^    "(\w+)": (?:"""|[A-Z]+,)', generator)},
        "folder": set(folders),
        "backend": backends,
        "choice": {name.replace("-", "_") for name in backends},
        "own_column": columns.keys() - {"kEnd"} - observed,
        "observed_column": observed,
        "column_name": set(columns.values()),
        # bench makes the percentiles of the histogram.
        "read_column": {name for name in columns if not re.fullmatch(r"kEnd|kP\d+Ns", name)},
    }


def expanded(place, known):
    """Each (file, pattern, what the pattern is about) that `place` stands for."""
    path, pattern = place
    for kind in re.findall(r"{([a-z_]+)}", path + pattern)[:1]:
        for one in sorted(known[kind]):
            yield path.replace(f"{{{kind}}}", one), pattern.replace(f"{{{kind}}}", re.escape(one)), one
        return
    yield path, pattern, "what the step is about"


def items_of(page, heading):
    """The numbered items below `heading`, each as the files that it names."""
    section = re.search(rf"(?m)^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", page, re.DOTALL)
    if section is None:
        return None
    items = re.findall(r"(?m)^\d+\. (.*(?:\n   .*)*)", section[1])
    return [{path.split("#")[0] for pair in re.findall(r"\]\(([^)\s]+)\)|`([\w.-]+/[\w/.-]*NAME[\w/.-]*)`", item) for path in pair if path}
            for item in items]


def main():
    source = sys.argv[1]
    page = read(source, "CONTRIBUTING.md")
    known = instances(source)
    faults = []
    for heading, steps in RECIPES.items():
        named = items_of(page, heading)
        if named is None:
            faults.append(f'CONTRIBUTING.md has no recipe "{heading}"')
            continue
        expected = [{re.sub("{folder}|{command}", "NAME", path) for path, _ in step} for step in steps]
        for number, (has, wants) in enumerate(zip(named, expected), 1):
            for path in sorted(has ^ wants):
                which = "is not in RECIPES" if path in has else "is not named there"
                faults.append(f'CONTRIBUTING.md, "{heading}", step {number}: {path} {which}')
        files_after = [path for item in named[len(expected):] for path in item]
        if len(named) < len(expected) or files_after:
            faults.append(f'CONTRIBUTING.md, "{heading}": steps with files are {len(expected)} in RECIPES')
        for number, step in enumerate(steps, 1):
            for path, pattern, what in (one for place in step for one in expanded(place, known)):
                where = f'see CONTRIBUTING.md, "{heading}", step {number}'
                if not os.path.exists(os.path.join(source, path)):
                    faults.append(f"{path} is missing: {where}")
                elif not re.search(pattern, read(source, path)):
                    faults.append(f"{path} lacks {what}: {where} (nothing there matches {pattern})")
    kinds = set(re.findall(r'Kind\("(\w+)"', read(source, "tools/update")))
    for line in re.findall(r"\./dev update((?: [a-z]+\b(?!/))+)", page):
        faults += [f"CONTRIBUTING.md: ./dev update has no kind {kind}" for kind in line.split() if kind not in kinds]
    for fault in faults:
        print(f"recipes: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
