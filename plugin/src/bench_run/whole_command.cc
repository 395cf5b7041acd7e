// SPDX-License-Identifier: MIT
#include "bench_run/whole_command.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "bench_run/refusal.h"
#include "bench_run/variables_below.h"
#include "os/printable.h"
#include "session/outside.h"
#include "syscost/adapter.h"

namespace syscost::bench_run {
namespace {

/// Why the programs of a command cannot count themselves; empty where they can.
std::string obstacle_inside(const ProgramFile& program, const std::string& name, const std::string& library) {
  ProgramFile file = program;
  if (file.kind == FileKind::script) {
    const std::optional<std::string> path = find_program(file.interpreter);
    const std::optional<ProgramFile> found = path ? read_program(*path) : std::nullopt;
    if (!found) return file.interpreter + ", which runs " + name + ", cannot be read";
    file = *found;
  }
  switch (file.kind) {
    case FileKind::static_linked:
      return name + " is linked statically";
    case FileKind::other_libc:
      return name + " uses another C library than glibc";
    case FileKind::other_machine:
      return name + " is a 32-bit program or one for another processor";
    case FileKind::privileged:
      return name + " is set-uid, set-gid or has file capabilities, so the loader preloads nothing into it";
    case FileKind::script:
    case FileKind::dynamic_glibc:
      break;
  }
  if (!may_be_preloaded(library)) {
    return "syscost lies in a folder with a blank, a colon, $ORIGIN, $LIB or $PLATFORM in its path, which LD_PRELOAD "
           "cannot hold";
  }
  if (library.empty()) return {};
  return access(library.c_str(), R_OK) != 0 ? library + ": " + std::strerror(errno) : std::string();
}

}  // namespace

void print_not_counted() {
  for (const outside::NotCounted& one : outside::not_counted()) {
    std::string why = one.why;
    if (const auto program = one.is_program_file ? read_program(one.what) : std::nullopt; program) {
      if (const std::string obstacle = obstacle_inside(*program, one.what, {}); !obstacle.empty()) why = obstacle;
    }
    std::fprintf(stderr,
                 "bench: not in the counts: %s: %s\n"
                 "  fix: use --backend=seccomp or --backend=ebpf, which count it, too\n",
                 printable(one.what).c_str(), printable(why).c_str());
  }
}

void start_outside(const ProgramFile& program, const std::string& name, const std::string& library) {
  std::array<char, 8> us{"bench"};
  std::array<char*, 2> arguments{us.data(), nullptr};
  int count = 1;
  if (!adapter::take_options(&count, arguments.data())) {
    report_refused("an option has a bad value");
    std::exit(kExitBadInput);
  }
  if (const std::optional<Unavailable> why =
          outside::start(name, program.build_id, obstacle_inside(program, name, library)))
    refuse(why->reason, why->how_to_fix);
  if (program.kind == agent::FileKind::privileged && outside::takes_rights()) {
    refuse(name + " is set-uid, set-gid or has file capabilities, and would run without them under backend seccomp",
           "measure it with --backend=ebpf, which needs CAP_BPF and CAP_PERFMON");
  }
}

}  // namespace syscost::bench_run
