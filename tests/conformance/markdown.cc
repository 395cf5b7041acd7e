// SPDX-License-Identifier: MIT
#include "markdown.h"

#include <cstring>
#include <ostream>
#include <sstream>
#include <string_view>

#include "backends.h"
#include "case.h"

namespace conformance {
namespace {

constexpr std::string_view kIntroduction = R"(# Conformance

This page lists what each backend must count, case by case. `./dev update pages` generates it from `tests/conformance`; a test
compares the two.

Every case is a small program with known syscalls. For each backend it runs twice: alone, and under `strace -f`. The backend counts in
both runs, and its numbers must equal column `expected`, where "entered" is `entries` and "called" is `calls`. Under strace, its
entries must also equal strace's, for every syscall of the measured process's threads. `restart_syscall` belongs to the call it
continues. A call that a seccomp filter answers is `denied` here and an entry for strace. In every row
`entries = calls + restarts + in_flight + no_return`. Each call and each restart has one latency, and nothing is lost. If the rate of a
processor's time-stamp counter is not constant, as on emulated processors, the dispatch backends have no latencies.

seccomp counts entries only. So in column `seccomp` "exact" means that `entered` is exact, for every syscall except `rt_sigreturn`
([backends](backends.md#what-seccomp-counts)). Under strace, a signal can interrupt a call before the supervisor has it. The kernel
restarts the call, so it is entered again. So strace may show more entries than the backend: those that ended this way (`? ERESTARTSYS`).

Column `not linked` is about the same case in a program that is not linked with syscost, measured by
`bench run` ([measure programs as they are](run-anything.md)). There each window is the body of a GoogleTest test, and its rows are
those of the CSV. "as linked" means: with each backend, the rows equal column `expected` as they do in the backend's own column.

With `dispatch` and `dispatch-trap`, each case also runs once with [`--syscost_where`](where.md) and once with
[`--syscost_trace`](trace.md), under strace if possible. The numbers are the same, and strace sees no call of syscost inside a window, except
`process_vm_readv` and `process_vm_writev`, by which the stub copies strings for a trace, arguments and unwind tables.

Column `oracle` compares column `expected` with strace alone, without any backend. It shows that the expected numbers are right.
Cases with the same number belong together; some numbers have no case.

Bytes, and what a test leaves open, are compared once more (`ctest -R oracle`). Each case of column `not linked` runs under strace. A
script adds up the bytes in strace's text. A library that is preloaded and shares no code with syscost lists /proc before and after
each window. Both must equal the rows. seccomp knows no bytes.

To run it, type `ctest -R conformance` in a build folder, as root or with CAP_BPF and CAP_PERFMON.

)";

void write_value(std::ostream& out, Expectation expected) {
  if (expected) {
    out << *expected;
  } else {
    out << "any";
  }
}

void write_row(std::ostream& out, const Row& row) {
  out << '`' << row.name << "` ";
  if (!row.calls && !row.entries) {
    out << "any (" << row.open_because << ")";
    return;
  }
  write_value(out, row.entries);
  out << " entered";
  if (!row.calls) {
    out << ", the rest any (" << row.open_because << ")";
    return;
  }
  out << ", " << *row.calls << " called";
  auto add = [&out](Expectation value, const char* word) {
    if (value && *value != 0) out << ", " << *value << ' ' << word;
  };
  add(row.restarts, "restarted");
  add(row.in_flight, "in flight");
  add(row.no_return, "without return");
  add(row.carried_in, "carried in");
  add(row.denied, "denied");
  for (auto [number, count] : row.errors) {
    out << ", " << count << ' ';
    if (const char* name = strerrorname_np(number); name != nullptr) {
      out << name;
    } else {
      out << "errno " << number;
    }
  }
}

void write_expected(std::ostream& out, const Case& one) {
  const char* between_windows = "";
  for (const Window& window : one.windows) {
    out << between_windows;
    between_windows = "<br>";
    if (!window.name.empty()) out << window.name << ": ";
    const char* between_rows = "";
    for (const Row& row : window.rows) {
      out << between_rows;
      between_rows = "; ";
      write_row(out, row);
    }
    if (window.rows.empty()) out << "no syscall";
    if (!window.others_because.empty()) out << "; others any (" << window.others_because << ")";
  }
}

void write_answer(std::ostream& out, const Case& one, const BackendColumn& backend) {
  auto reason = one.unsupported.find(backend.name);
  if (auto refusal = one.refusals.find(backend.name); refusal != one.refusals.end()) {
    out << "refuses to start: the message names " << refusal->second;
  } else if (reason == one.unsupported.end()) {
    out << "exact";
  } else {
    out << "unsupported: " << reason->second;
  }
}

void write_not_linked(std::ostream& out, const Case& one) {
  const auto reason = one.unsupported.find(kNotLinked);
  out << (reason == one.unsupported.end() ? "as linked" : "unsupported: " + reason->second);
}

}  // namespace

std::string conformance_page() {
  std::ostringstream page;
  page << kIntroduction << "| case | behaviour | expected |";
  for (const BackendColumn& backend : backends()) page << ' ' << backend.name << " |";
  page << ' ' << kNotLinked << " |\n|---|---|---|---|";
  for (std::size_t i = 0; i < backends().size(); ++i) page << "---|";
  page << '\n';
  for (const Case& one : cases()) {
    page << "| " << one.number << " `" << one.name << "` | " << one.summary << " | ";
    write_expected(page, one);
    page << " |";
    for (const BackendColumn& backend : backends()) {
      page << ' ';
      write_answer(page, one, backend);
      page << " |";
    }
    page << ' ';
    write_not_linked(page, one);
    page << " |\n";
  }
  return page.str();
}

}  // namespace conformance
