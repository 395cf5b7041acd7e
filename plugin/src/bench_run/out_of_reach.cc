// SPDX-License-Identifier: MIT
#include "bench_run/out_of_reach.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "agent/common/variables.h"
#include "agent/inject/permission.h"
#include "csv/row.h"
#include "os/printable.h"

namespace syscost::bench_run {
namespace {

using agent::FileKind;

FileKind kind_of(std::string_view word) {
  if (word == agent::kNoteStatic) return FileKind::static_linked;
  if (word == agent::kNoteOtherLibc) return FileKind::other_libc;
  if (word == agent::kNoteOtherMachine) return FileKind::other_machine;
  return word == agent::kNotePrivileged ? FileKind::privileged : FileKind::script;
}

std::optional<OutOfReach> not_entered(const std::string& name, bool is_traced) {
  const inject::Obstacle obstacle = inject::why_denied(is_traced);
  return OutOfReach{name + ": nothing can be preloaded into it, and what is done instead was denied: " + obstacle.why,
                    obstacle.remedy};
}

}  // namespace

std::optional<OutOfReach> out_of_reach(const std::string& name, FileKind kind) {
  switch (kind) {
    case FileKind::script:
    case FileKind::dynamic_glibc:
      return std::nullopt;
    case FileKind::static_linked:
      return OutOfReach{name + " is linked statically, and its test framework is none that can be measured there",
                        "link it dynamically. In static programs the tests of GoogleTest can be measured, on x86-64"};
    case FileKind::other_libc:
      return OutOfReach{
          name + " uses another C library than glibc, and its test framework is none that can be measured there",
          "build it for glibc, or link GoogleTest into the program itself, on x86-64"};
    case FileKind::other_machine:
      return OutOfReach{name + " is a 32-bit program or one for another processor",
                        "build it for this machine, with 64 bits"};
    case FileKind::privileged:
      return OutOfReach{name + " is set-uid, set-gid or has file capabilities, so the loader preloads nothing into it",
                        "run a copy without them; give the capabilities to syscost-ebpf-helper instead"};
  }
  return std::nullopt;
}

namespace {

/// A name in a line, as it was noted.
std::string name_of(std::string noted) {
  std::replace(noted.begin(), noted.end(), '\0', '\n');
  return noted;
}

/// A line about a process with a test framework.
struct TestProcess {
  bool lists = false;
  std::uint64_t space = 0;  ///< The inode of its process namespace.
  int process = 0;
  int parent = 0;
  std::string program;  ///< As the CSV names it.
};
std::optional<TestProcess> test_process_in(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  TestProcess its;
  its.lists = word == agent::kNoteLists;
  if (!its.lists && word != agent::kNoteTests) return std::nullopt;
  if (!(words >> its.space >> its.process >> its.parent)) return std::nullopt;
  std::getline(words.ignore(), its.program);
  its.program = csv::visible(name_of(its.program));
  return its;
}

}  // namespace

Notes::Notes(std::string path) : path_(std::move(path)) {
  const int fd = path_.empty() ? -1 : open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    path_.clear();
    return;
  }
  close(fd);
  setenv(agent::kNotesVariable, path_.c_str(), 1);
}

std::string Notes::refusal_of(pid_t process) const {
  if (path_.empty()) return {};
  std::ifstream file(path_);
  const std::string beginning = std::string(agent::kNoteRefused) + " " + std::to_string(process) + " ";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(beginning)) return line.substr(beginning.size());
  }
  return {};
}

std::vector<Notes::End> Notes::ends(pid_t command, int status) const {
  if (path_.empty()) return {};
  struct Program {
    int parent;
    std::string name;
    bool is_ended_by_us;
    bool lists;
  };
  std::map<std::pair<std::uint64_t, int>, Program> running;  // by namespace and process id
  std::vector<End> ends;
  const auto end = [&](std::uint64_t space, int parent, int process, int how) {
    const auto found = running.find({space, process});
    if (found == running.end() || found->second.parent != parent) return;
    const Program& program = found->second;
    // By an exit code of ours, or of a listing; a signal is the program's.
    const bool is_told = program.is_ended_by_us || program.lists;
    if (!is_told || WIFSIGNALED(how)) ends.push_back({process, program.name, how});
    running.erase(found);
  };
  std::uint64_t space_of_command = 0;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    std::uint64_t space = 0;
    int process = 0;
    int parent = 0;
    int how = 0;
    if (const std::optional<TestProcess> its = test_process_in(line)) {
      running[{its->space, its->process}] = {its->parent, its->program, false, its->lists};
      if (its->process == command && its->parent == getpid()) space_of_command = its->space;
    } else if (word == agent::kNoteEnded && words >> space >> parent >> process >> how) {
      end(space, parent, process, how);
    } else if ((word == agent::kNoteVerdict || word == agent::kNoteRefused) && words >> process) {
      for (auto& [key, program] : running) {
        if (key.second == process) program.is_ended_by_us = true;
      }
    }
  }
  end(space_of_command, getpid(), command, status);
  return ends;
}

bool Notes::are_of_lists_only() const {
  if (path_.empty()) return false;
  bool has_lists = false;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    const std::string_view word = std::string_view(line).substr(0, line.find(' '));
    if (word != agent::kNoteLists && word != agent::kNoteEnded) return false;
    has_lists = has_lists || word == agent::kNoteLists;
  }
  return has_lists;
}

void Notes::print() const {
  if (path_.empty()) return;
  std::ifstream file(path_);
  std::set<std::string> printed;
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    const std::string name = name_of(line.substr(space + 1));
    const std::string_view word = std::string_view(line).substr(0, space);
    // Not of these kinds, or said already: of a refusal by the program itself.
    if (word == agent::kNoteRefused || word == agent::kNoteTests || word == agent::kNoteLists ||
        word == agent::kNoteEnded || word == agent::kNoteVerdict || !printed.insert(line).second) {
      continue;
    }
    const bool is_traced = word == agent::kNoteTraced;
    if (word == agent::kNoteDescriptor) {
      std::fprintf(
          stderr,
          "bench: not measured: %s is linked statically and executed by a descriptor that is closed then, so nothing "
          "can be put into it\n  fix: execute it by its path, or by a descriptor without O_CLOEXEC\n",
          printable(name).c_str());
      continue;
    }
    const auto its =
        is_traced || word == agent::kNoteNotTraced ? not_entered(name, is_traced) : out_of_reach(name, kind_of(word));
    if (!its) continue;
    std::fprintf(stderr, "bench: not measured: %s\n  fix: %s\n", printable(its->why).c_str(),
                 printable_lines(its->remedy).c_str());
  }
}

}  // namespace syscost::bench_run
