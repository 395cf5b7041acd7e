// SPDX-License-Identifier: MIT
#include "commands/doctor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>

extern char** environ;

namespace syscost::bench::commands {
namespace {

int fail(std::ostream& err, const std::string& binary, int error) {
  err << fmt::format(
      "bench: {} cannot be run: {}{}\n", binary, std::generic_category().message(error),
      error == ENOENT && binary.find('/') == std::string::npos ? " (give its path, PATH is not searched)" : "");
  return cli::kExitBadInput;
}

/// True when the file holds the name of the flag, or needs the library that does. A binary that knows no
/// --syscost_doctor would ignore it and run all its tests instead. Compares bytes, so that it works for any file format
/// and for stripped binaries alike.
bool knows_doctor(std::istream& binary) {
  static constexpr std::array<std::string_view, 2> kMarks = {"syscost_doctor", "libsyscost"};
  std::string window;
  std::array<char, 1 << 16> buffer{};
  while (binary.read(buffer.data(), buffer.size()) || binary.gcount() > 0) {
    window.append(buffer.data(), static_cast<std::size_t>(binary.gcount()));
    for (std::string_view mark : kMarks) {
      if (window.find(mark) != std::string::npos) return true;
    }
    // A mark may lie across two reads.
    window.erase(0, window.size() - std::min<std::size_t>(window.size(), 32));
  }
  return false;
}

/// Copies what the child prints until it closes its end.
void copy_output(int descriptor, std::ostream& out) {
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    out.write(buffer.data(), got);
  }
}

}  // namespace

int doctor(const cli::Options& options, std::ostream& out, std::ostream& err) {
  if (options.binary.empty()) {
    out << "bench reads CSVs and measures nothing itself. Ask a binary that is linked with syscost:\n"
           "  bench doctor build/my_tests\n"
           "which runs `build/my_tests --syscost_doctor`: the backends that work here, why others do not, the fix.\n";
    return cli::kExitOk;
  }
  std::string path = options.binary.find('/') == std::string::npos ? "./" + options.binary : options.binary;
  std::string flag = "--syscost_doctor";
  // What cannot be read is left to exec, which says why it cannot be run.
  if (std::ifstream file(path, std::ios::binary); file && file.peek() != std::ifstream::traits_type::eof()) {
    if (!knows_doctor(file)) {
      err << fmt::format(
          "bench: {} is not linked with syscost and was not run: it would take --syscost_doctor for a reason to run "
          "its "
          "tests\nLink it with syscost::gtest_main, or name another binary.\n",
          options.binary);
      return cli::kExitBadInput;
    }
  }
  std::array<int, 2> pipe_ends{};
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return fail(err, options.binary, errno);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  std::array<char*, 3> args = {path.data(), flag.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawn(&child, path.c_str(), &actions, nullptr, args.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe_ends[1]);
  if (error != 0) {
    ::close(pipe_ends[0]);
    return fail(err, options.binary, error);
  }
  copy_output(pipe_ends[0], out);
  ::close(pipe_ends[0]);

  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    err << fmt::format("bench: {} was killed by signal {}\n", options.binary, WTERMSIG(status));
    return cli::kExitBadInput;
  }
  return WEXITSTATUS(status) == 0 ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
