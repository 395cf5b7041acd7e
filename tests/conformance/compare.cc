// SPDX-License-Identifier: MIT
#include "compare.h"

#include <algorithm>
#include <set>

namespace conformance {
namespace {

using Sentences = std::vector<std::string>;

void expect(Sentences& out, const std::string& what, Expectation expected, std::uint64_t found,
            const std::string& by = "the table") {
  if (!expected || *expected == found) return;
  out.push_back(what + ": " + by + " says " + std::to_string(*expected) + ", counted " + std::to_string(found));
}

std::string to_text(const std::map<int, std::uint64_t>& errors) {
  std::string text = "{";
  for (auto [number, count] : errors) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(number) + ": " + std::to_string(count);
  }
  return text + "}";
}

const MeasuredRow& row_of(const MeasuredWindow& measured, const std::string& name) {
  static const MeasuredRow kNone;
  auto found = measured.rows.find(name);
  return found != measured.rows.end() ? found->second : kNone;
}

void compare_row(Sentences& out, const Row& row, const BackendColumn& backend, const MeasuredRow& found) {
  if (row.name == backend.blind_to) {
    expect(out, row.name + " entries", 0, found.entries, "the backend's blindness");
    return;
  }
  // Where denied calls are not told apart they are among the others.
  auto with_denied = [&](Expectation number) {
    return backend.knows_denied || !number || !row.denied ? number : Expectation(*number + *row.denied);
  };
  if (backend.knows_denied) expect(out, row.name + " denied", row.denied, found.denied);
  if (backend.knows_entries) {
    expect(out, row.name + " entries", with_denied(row.entries), found.entries);
  }
  if (backend.knows_calls && backend.knows_entries) {
    expect(out, row.name + " restarts", row.restarts, found.restarts);
    expect(out, row.name + " in_flight", row.in_flight, found.in_flight);
    expect(out, row.name + " no_return", row.no_return, found.no_return);
  }
  if (backend.knows_calls) {
    expect(out, row.name + " calls", with_denied(row.calls), found.calls);
    expect(out, row.name + " carried_in", row.carried_in, found.carried_in);
  }
  if (backend.knows_errors && row.calls && row.errors != found.errors) {
    out.push_back(row.name + " errors: the table says " + to_text(row.errors) + ", counted " + to_text(found.errors));
  }
}

void compare_bytes_of_row(Sentences& out, const Row& row, const MeasuredRow& found) {
  expect(out, row.name + " bytes", row.bytes, found.bytes.value_or(0));
  expect(out, row.name + " bytes released", row.released, found.released.value_or(0));
  expect(out, row.name + " short calls", row.short_calls, found.short_calls.value_or(0));
}

// Checks that apply to the rows of all cases.
void compare_with_itself(Sentences& out, const std::string& name, const BackendColumn& backend,
                         const MeasuredRow& row) {
  std::uint64_t ended = row.calls + row.restarts + row.in_flight + row.no_return;
  if (backend.knows_calls && backend.knows_entries && row.entries != ended) {
    out.push_back(name + ": " + std::to_string(row.entries) +
                  " entries, but calls + restarts + in_flight + no_return = " + std::to_string(ended));
  }
  std::uint64_t failed = 0;
  for (auto [number, count] : row.errors) failed += count;
  if (backend.knows_errors && backend.knows_calls && failed > row.calls + row.denied) {
    out.push_back(name + ": more errors than calls and denied calls");
  }
  // A backend in user space never sees rt_sigreturn return.
  const bool has_latency = backend.knows_entries || name != "rt_sigreturn";
  const std::uint64_t latencies = has_latency && backend.knows_latency ? row.calls + row.restarts : 0;
  if (row.latencies != latencies) {
    out.push_back(name + ": " + std::to_string(row.latencies) + " latencies for " + std::to_string(latencies) +
                  " returned entries");
  }
}

}  // namespace

Sentences compare_with_table(const Window& expected, const BackendColumn& backend, const MeasuredWindow& measured) {
  Sentences out;
  std::set<std::string> named;
  for (const Row& row : expected.rows) {
    named.insert(row.name);
    compare_row(out, row, backend, row_of(measured, row.name));
    if (backend.knows_bytes) compare_bytes_of_row(out, row, row_of(measured, row.name));
  }
  for (const auto& [name, row] : measured.rows) {
    compare_with_itself(out, name, backend, row);
    if (expected.others_because.empty() && named.count(name) == 0) {
      out.push_back(name + ": not in the table, counted " + std::to_string(row.entries) + " entries, " +
                    std::to_string(row.calls) + " calls, " + std::to_string(row.carried_in) + " carried in, " +
                    std::to_string(row.denied) + " denied");
    }
  }
  expect(out, "lost", 0, measured.lost, "the invariant");
  return out;
}

namespace {

/// For a backend that sees calls only: those that strace saw return. strace does not say of a trip that a signal
/// ended whether the program saw EINTR or the call was made again.
Sentences compare_calls_with_strace(const MeasuredWindow& measured, const StraceWindow& strace) {
  Sentences out;
  std::map<std::string, std::uint64_t> counted;
  for (const auto& [name, row] : measured.rows) counted[strace_name(name)] += row.calls;
  for (const auto& [name, entries] : strace.entries) counted.emplace(name, 0);
  auto count_in = [](const std::map<std::string, std::uint64_t>& map, const std::string& name) {
    auto found = map.find(name);
    return found != map.end() ? found->second : 0;
  };
  for (const auto& [name, calls] : counted) {
    const std::uint64_t most =
        count_in(strace.entries, name) - count_in(strace.in_flight, name) - count_in(strace.no_return, name);
    const std::uint64_t least = most - count_in(strace.interrupted, name);
    if (calls >= least && calls <= most) continue;
    out.push_back(name + " calls: strace says " + std::to_string(least) +
                  (least != most ? " to " + std::to_string(most) : "") + ", counted " + std::to_string(calls));
  }
  return out;
}

/// Bytes of the calls that both saw return.
void compare_bytes(Sentences& out, const BackendColumn& backend, const MeasuredWindow& measured,
                   const StraceWindow& strace) {
  struct Sums {
    std::uint64_t bytes = 0, released = 0, short_calls = 0;
    bool is_foreign = false;
  };
  std::map<std::string, Sums> ours;
  for (const auto& [name, row] : measured.rows) {
    Sums& sums = ours[strace_name(name)];
    sums.is_foreign = sums.is_foreign || strace_name(name) != name;
    sums.bytes += row.bytes.value_or(0);
    sums.released += row.released.value_or(0);
    sums.short_calls += row.short_calls.value_or(0);
  }
  for (const auto* map : {&strace.bytes, &strace.released, &strace.short_calls}) {
    for (const auto& [name, number] : *map) ours.emplace(name, Sums());
  }
  const auto of = [](const std::map<std::string, std::uint64_t>& map, const std::string& name) {
    const auto found = map.find(name);
    return found != map.end() ? found->second : 0;
  };
  for (const auto& [name, sums] : ours) {
    const bool has_lengths = backend.knows_i386_lengths || !sums.is_foreign;
    const bool maps = name == "mmap" || name == "mmap2" || name == "munmap" || name == "mremap" || name == "brk";
    if (has_lengths || !maps) expect(out, name + " bytes", of(strace.bytes, name), sums.bytes, "strace");
    if (!has_lengths) continue;
    expect(out, name + " bytes released", of(strace.released, name), sums.released, "strace");
    expect(out, name + " short calls", of(strace.short_calls, name), sums.short_calls, "strace");
  }
}

/// Entries, and what became of them.
Sentences compare_entries_with_strace(const BackendColumn& backend, const MeasuredWindow& measured,
                                      const StraceWindow& strace);

}  // namespace

Sentences compare_with_strace(const BackendColumn& backend, const MeasuredWindow& measured,
                              const StraceWindow& strace) {
  Sentences out = backend.knows_entries ? compare_entries_with_strace(backend, measured, strace)
                                        : compare_calls_with_strace(measured, strace);
  if (backend.knows_bytes) compare_bytes(out, backend, measured, strace);
  return out;
}

namespace {

Sentences compare_entries_with_strace(const BackendColumn& backend, const MeasuredWindow& measured,
                                      const StraceWindow& strace) {
  Sentences out;
  StraceWindow ours;
  for (const auto& [name, row] : measured.rows) {
    const std::string shown = strace_name(name);
    // strace stops a call before seccomp answers it.
    ours.entries[shown] += row.entries + row.denied;
    ours.carried_in[shown] += row.carried_in;
    ours.in_flight[shown] += row.in_flight;
  }
  for (const auto& [name, count] : strace.restarted) {
    const std::uint64_t all = strace.entries.at(name);
    std::uint64_t& counted = ours.entries[name];
    if (backend.misses_restarted && counted < all) counted += std::min(all - counted, count);
  }
  auto compare = [&out, &backend](const char* what, const std::map<std::string, std::uint64_t>& theirs,
                                  const std::map<std::string, std::uint64_t>& counted) {
    auto count_in = [](const std::map<std::string, std::uint64_t>& map, const std::string& name) {
      auto found = map.find(name);
      return found != map.end() ? found->second : 0;
    };
    std::set<std::string> names;
    for (const auto& [name, count] : theirs) names.insert(name);
    for (const auto& [name, count] : counted) names.insert(name);
    for (const std::string& name : names) {
      if (name == backend.blind_to) continue;
      expect(out, name + " " + what, count_in(theirs, name), count_in(counted, name), "strace");
    }
  };
  compare("entries", strace.entries, ours.entries);
  if (backend.knows_calls) {
    compare("carried_in", strace.carried_in, ours.carried_in);
    compare("in_flight", strace.in_flight, ours.in_flight);
  }
  return out;
}

}  // namespace

Sentences compare_table_with_strace(const Window& expected, const StraceWindow& strace) {
  // strace as a backend: it knows entries only, and denied calls are among them.
  MeasuredWindow as_measured;
  as_measured.available = true;
  for (const auto& [name, count] : strace.entries) as_measured.rows[name].entries = count;
  Window renamed = expected;
  for (Row& row : renamed.rows) row.name = strace_name(row.name);
  BackendColumn column;
  column.knows_bytes = column.knows_calls = column.knows_errors = column.knows_denied = column.knows_latency = false;
  return compare_with_table(renamed, column, as_measured);
}

}  // namespace conformance
