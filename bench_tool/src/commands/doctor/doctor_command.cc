// SPDX-License-Identifier: MIT
//
// bench doctor: shows whether this machine can measure.
//
// bench has no backend of its own. syscost-run, which is installed with it, has those of this syscost; a measured
// binary has those that it was built with. So bench runs the doctor of the one or the other, by exec, never through a
// shell.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/grammar.h"
#include "commands/commands.h"
#include "commands/run/run_programs.h"
#include "commands/shared/command_runs.h"
#include "csv/text.h"
#include "os/files.h"

namespace syscost::bench::commands {
namespace {

int fail(std::ostream& err, const std::string& binary, int error) {
  err << fmt::format(
      "bench: {} cannot be run: {}{}\n", csv::printable(binary), std::generic_category().message(error),
      error == ENOENT && binary.find('/') == std::string::npos ? " (give its path, PATH is not searched)" : "");
  return cli::kExitBadInput;
}

/// True when the file holds the name of the flag, or needs the library that does. Compares bytes, so that it works for
/// any file format and for stripped binaries alike.
bool holds_mark(const std::string& path) {
  static constexpr std::array<std::string_view, 2> kMarks = {"syscost_doctor", "libsyscost"};
  const Descriptor file = open_regular(path.c_str());
  std::string window;
  std::array<char, 1 << 16> buffer{};
  ssize_t got = 0;
  while (file.is_open() && (got = ::read(file.number(), buffer.data(), buffer.size())) > 0) {
    window.append(buffer.data(), static_cast<std::size_t>(got));
    for (std::string_view mark : kMarks) {
      if (window.find(mark) != std::string::npos) return true;
    }
    // A mark may lie across two reads.
    window.erase(0, window.size() - std::min<std::size_t>(window.size(), 32));
  }
  return false;
}

/// Paths of the shared libraries that the loader would load for a program, also those that libraries need. `fault`
/// says why there may be more: without one of them, or with a broken one, the loader lists no others.
std::vector<std::string> libraries_of(const std::string& path, std::string& fault) {
  std::string listed;
  const ChildEnd end = run_child({"ldd", path}, [&](std::string_view piece) { listed += piece; }, {"LC_ALL=C"});
  std::vector<std::string> libraries;
  std::string last;
  std::istringstream lines(listed);
  for (std::string line; std::getline(lines, line);) {  // `libx.so.1 => /usr/lib/libx.so.1 (0x00007f...)`
    static constexpr std::string_view kArrow = " => ";
    last = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    if (last.ends_with(" => not found")) fault = last;
    const std::size_t arrow = line.find(kArrow);
    const std::size_t address = line.rfind(" (0x");
    if (arrow == std::string::npos || address == std::string::npos || address < arrow + kArrow.size()) continue;
    libraries.push_back(line.substr(arrow + kArrow.size(), address - arrow - kArrow.size()));
  }
  if (end.error != 0) {
    fault = fmt::format("ldd: {}", std::generic_category().message(end.error));
  } else if (end.status != 0 && fault.empty() && last != "not a dynamic executable") {
    fault = last.empty() ? fmt::format("ldd: {}", status_text(end.status)) : last;
  }
  return libraries;
}

/// True if the binary or a library that it loads has --syscost_doctor. A program without it would ignore the flag and
/// run all its tests.
bool knows_doctor(const std::string& path, std::string& fault) {
  if (holds_mark(path)) return true;
  const std::vector<std::string> libraries = libraries_of(path, fault);
  return std::any_of(libraries.begin(), libraries.end(), holds_mark);
}

int exit_code_of(const ChildEnd& end, const std::string& program, std::ostream& err) {
  if (WIFSIGNALED(end.status)) {
    err << fmt::format("bench: {} was killed by signal {}\n", csv::printable(program), WTERMSIG(end.status));
    return cli::kExitBadInput;
  }
  return WEXITSTATUS(end.status) == 0 ? cli::kExitOk : cli::kExitBadInput;
}

int doctor_of_this_syscost(std::ostream& out, std::ostream& err) {
  const std::string runner = runner_path();
  const auto refuse = [&](int error) {
    err << "bench: " << no_runner(runner, "bench doctor", error) << '\n';
    return cli::kExitBadInput;
  };
  if (runner.empty()) return refuse(errno);
  const ChildEnd end = run_child({runner, "--doctor"}, [&](std::string_view piece) { out << piece; });
  if (end.error != 0) return refuse(end.error);
  return exit_code_of(end, runner, err);
}

/// Returns 0 if the doctor returned 0, else 2.
int doctor(const cli::Options& options, std::ostream& out, std::ostream& err) {
  if (options.binary.empty()) return doctor_of_this_syscost(out, err);
  const std::string path = options.binary.find('/') == std::string::npos ? "./" + options.binary : options.binary;
  // A file that cannot be read is executed all the same: the error of exec says why it cannot run.
  std::string fault;
  char first = 0;
  if (const Descriptor file = open_regular(path.c_str());
      file.is_open() && ::read(file.number(), &first, 1) == 1 && !knows_doctor(path, fault)) {
    err << fmt::format("bench: {} {} and was not run: it would ignore --syscost_doctor and run its tests\n",
                       csv::printable(options.binary),
                       fault.empty() ? "is not linked with syscost" : "has no syscost that was found");
    if (!fault.empty()) err << "Not all of its shared libraries were searched: " << csv::printable(fault) << '\n';
    err << "Link it with syscost::gtest_main, or name another binary.\n";
    return cli::kExitBadInput;
  }
  const ChildEnd end = run_child({path, "--syscost_doctor"}, [&](std::string_view piece) { out << piece; });
  if (end.error != 0) return fail(err, options.binary, end.error);
  return exit_code_of(end, options.binary, err);
}

constexpr const char* kDoctorFooter =
    R"(Shows which backends work on this machine, why the others do not, and the fix: as the installed syscost finds it, or,
with BINARY, as that program does (BINARY --syscost_doctor).

Examples:
  bench doctor
  bench doctor build/my_tests)";

void add_doctor(CLI::App& line, cli::Grammar& grammar) {
  line.add_option("BINARY", grammar.options.binary, "A test or benchmark linked with syscost");
}

}  // namespace

constinit const cli::Command kDoctorCommand = {
    .name = "doctor",
    .group = "Measure",
    .about = "Show whether this machine can measure",
    .footer = kDoctorFooter,
    .add = add_doctor,
    .run = [](const cli::Options& options, const render::Paint&, std::ostream& out,
              std::ostream& err) { return doctor(options, out, err); },
};

}  // namespace syscost::bench::commands
