// SPDX-License-Identifier: MIT
#include "markdown.h"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends.h"
#include "case.h"

namespace conformance {
namespace {

constexpr std::string_view kIntroduction = R"(# Conformance

Each backend counts these cases exactly, except those of the first table. A case is a small program with known syscalls. To run the
cases, as root or with CAP_BPF and CAP_PERFMON:

```sh
ctest --test-dir build/release -R conformance
```

`./dev update pages` generates this page from `tests/conformance`. Each case runs twice for each backend: alone, and under
`strace -f`. Both times, the backend's numbers must equal the expected ones. Under strace, its entries must also equal strace's, for
each syscall of the process's threads. In each row `entries = calls + restarts + in_flight + no_return`. Each call and each restart
has one latency, and nothing is lost.

- *oracle*: a test compares the expected numbers with strace alone, so they are right.
- *not linked*: `bench run` measures the case in a GoogleTest program that is not linked with syscost. Its rows must equal the
  expected numbers with each backend.
- *dispatch*: each case also runs with [`--syscost_where`](where.md) and with [`--syscost_trace`](trace.md). The numbers are the
  same, and strace sees no call of syscost in a window, except `process_vm_readv` and `process_vm_writev`, by which the stub copies
  strings.
- *seccomp* counts entries only, and not those of `rt_sigreturn` ([backends](backends.md#what-seccomp-counts)). Under strace, a
  signal can interrupt a call before seccomp's supervisor has it. Then strace shows one entry more.
- `ctest -R oracle` also compares bytes with strace's text, and objects that a test leaves open with /proc.

`restart_syscall` belongs to the call that it continues. A call that a seccomp filter answers is `denied` here, and an entry for
strace. Without a constant time-stamp counter, as on emulated processors, dispatch has no latencies.

)";

constexpr std::string_view kExceptions = R"(## Not the same everywhere

| case | where | why |
|---|---|---|
)";

constexpr std::string_view kAll = R"(
## All cases

A case that is not in the table above is exact everywhere. Cases with the same number belong together; some numbers have no case.
`tests/conformance/cases_*.cc` has a sentence and the expected numbers of each.

)";

constexpr std::size_t kWidth = 138;

using Column = std::string;
// A reason, and the columns that are not exact for it.
using Exception = std::pair<std::string, std::vector<Column>>;

std::vector<Exception> exceptions_of(const Case& one) {
  std::vector<Exception> found;
  auto add = [&found](const Column& column, const std::string& reason) {
    auto same = std::ranges::find(found, reason, &Exception::first);
    if (same == found.end()) same = found.insert(found.end(), {reason, {}});
    same->second.push_back(column);
  };
  auto look = [&](const Column& column) {
    if (auto refusal = one.refusals.find(column); refusal != one.refusals.end()) {
      add(column, "refuses to start: the message names " + refusal->second);
    } else if (auto reason = one.unsupported.find(column); reason != one.unsupported.end()) {
      add(column, reason->second);
    }
  };
  for (const BackendColumn& backend : backends()) look(backend.name);
  look(kNotLinked);
  return found;
}

std::string title_of(const Case& one) {
  return std::to_string(one.number) + " `" + one.name + "`";
}

void write_exceptions(std::ostream& out, const Case& one) {
  std::string title = title_of(one) + ": " + one.summary;
  for (const auto& [reason, columns] : exceptions_of(one)) {
    out << "| " << title << " | ";
    const char* between = "";
    for (const Column& column : columns) {
      out << between << column;
      between = ", ";
    }
    out << " | " << reason << " |\n";
    title = title_of(one);
  }
}

void write_titles(std::ostream& out) {
  std::size_t used = 0;
  for (const Case& one : cases()) {
    const std::string title = title_of(one) + (&one == &cases().back() ? "." : ",");
    const bool fits = used + 1 + title.size() <= kWidth;
    if (used != 0) out << (fits ? ' ' : '\n');
    used = used != 0 && fits ? used + 1 + title.size() : title.size();
    out << title;
  }
  out << '\n';
}

}  // namespace

std::string conformance_page() {
  std::ostringstream page;
  page << kIntroduction << kExceptions;
  for (const Case& one : cases()) write_exceptions(page, one);
  page << kAll;
  write_titles(page);
  return page.str();
}

}  // namespace conformance
