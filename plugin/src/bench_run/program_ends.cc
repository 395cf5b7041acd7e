// SPDX-License-Identifier: MIT
#include "bench_run/program_ends.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <string>

#include "os/fault_signals.h"
#include "os/printable.h"
#include "session/outside.h"
#include "syscost/schema.h"

namespace syscost::bench_run {
namespace {

using Program = RowFile::Program;

std::string text_of(int status) {
  if (!WIFSIGNALED(status)) return std::string(schema::kExitCode) + std::to_string(WEXITSTATUS(status));
  const char* const name = sigabbrev_np(WTERMSIG(status));
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(WTERMSIG(status));
}

/// By a fault of the program itself, not by a signal that another process sent.
bool is_fault(int status) {
  return WIFSIGNALED(status) && is_fault_signal(WTERMSIG(status));
}

/// When it ended; empty where that is nothing to tell.
std::string when(const Notes::End& end, const std::vector<Program>& programs, const Program*& its) {
  bool runs_tests = false;
  int processes = 0;
  for (const Program& one : programs) {
    runs_tests = runs_tests || one.name == end.program;
    if (one.process != std::to_string(end.process)) continue;
    ++processes;
    if (one.name == end.program) its = &one;
  }
  // Of several processes of one number, as in containers, it is not known which one this is.
  if (processes > 1 || (processes == 1 && its == nullptr)) return {};
  if (its == nullptr) {
    // A program may end as it likes if another process of it runs the tests: it listed them, or started that process.
    return end.status != 0 && (is_fault(end.status) || !runs_tests) ? "before it reported a test" : "";
  }
  if (!its->has_ended) return "before its tests did";
  // In the signal handlers of Catch2 and doctest the test fails and all tests end.
  if (WIFSIGNALED(end.status) && !its->has_passed && !its->has_failed) return "in its last test or after it";
  return WIFSIGNALED(end.status) || (end.status != 0 && its->has_passed) ? "after its tests ended" : "";
}

}  // namespace

void tell_ends(const std::vector<Notes::End>& ends, const RowFile& rows) {
  const std::vector<Program> programs = rows.programs();
  std::vector<outside::ProgramEnd> found;
  std::set<std::string> lines;
  std::set<std::string> known;  // by their first cells
  for (const Notes::End& end : ends) {
    const Program* its = nullptr;
    const std::string time = when(end, programs, its);
    if (time.empty()) continue;
    const std::string how = text_of(end.status);
    found.push_back({end.program, end.process, how, its != nullptr ? its->first_cells : std::string()});
    known.insert(found.back().first_cells);
    lines.insert(end.program + (WIFSIGNALED(end.status) ? " was ended by " : " ended with ") + how + " " + time);
  }
  for (const Program& one : programs) {
    if (one.has_ended || known.count(one.first_cells) != 0) continue;
    lines.insert(one.name + " crashed, or ended in another way before its tests did");
  }
  if (!found.empty()) {
    if (const auto why = outside::write_ends(rows.path(), found)) {
      std::fprintf(stderr, "bench: how programs ended is not in %s: %s\n", printable(rows.path()).c_str(),
                   why->reason.c_str());
    }
  }
  if (!rows.is_named()) return;  // the summary says it
  for (const std::string& line : lines) {
    std::fprintf(stderr, "bench: %s: bench summary %s\n", printable(line).c_str(), printable(rows.path()).c_str());
  }
}

}  // namespace syscost::bench_run
