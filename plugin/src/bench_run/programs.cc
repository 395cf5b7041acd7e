// SPDX-License-Identifier: MIT
#include "bench_run/programs.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "agent/common/variables.h"
#include "agent/inject/permission.h"
#include "csv/row.h"
#include "os/program_files.h"
#include "os/signals.h"
#include "os/text.h"
#include "session/outside.h"
#include "syscost/schema.h"

namespace syscost::bench_run {
namespace {

using agent::FileView;

/// `#!/usr/bin/env python3` is run by env, which becomes python3: the first word that is no env.
std::string interpreter_of(std::string_view text) {
  if (!text.starts_with("#!")) return "/bin/sh";
  std::string_view line = text.substr(2, std::min<std::size_t>(text.find('\n'), PATH_MAX) - 2);
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    std::string word(line.substr(0, end));
    line.remove_prefix(end);
    const bool is_env = word == "env" || word.ends_with("/env");
    if (is_env || word.front() == '-' || word.find('=') != std::string::npos) continue;
    return word;
  }
  return "/bin/sh";
}

}  // namespace

std::string ProgramFile::process_name() const {
  std::string file = kind == FileKind::script ? interpreter : path;
  if (std::optional<std::string> found = kind == FileKind::script ? find_program(file) : std::nullopt) {
    std::array<char, PATH_MAX> real{};
    if (::realpath(found->c_str(), real.data()) != nullptr) file = real.data();
  }
  return file.substr(file.rfind('/') + 1);
}

std::optional<std::string> find_program(const std::string& command) {
  if (command.find('/') != std::string::npos) {
    return ::access(command.c_str(), X_OK) == 0 ? std::optional(command) : std::nullopt;
  }
  const char* const variable = ::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  int error = ENOENT;
  for (;;) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string folder(folders.substr(0, end));
    const std::string path = (folder.empty() ? "." : folder) + "/" + command;
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      if (::access(path.c_str(), X_OK) == 0) return path;
      error = errno;
    }
    if (end == folders.size()) break;
    folders.remove_prefix(end + 1);
  }
  errno = error;
  return std::nullopt;
}

std::optional<ProgramFile> read_program(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  ProgramFile program;
  program.path_to_execute = path;
  // A file without a name, as one that was deleted, has a path in /proc/self/fd only.
  const bool has_name = ::realpath(path.c_str(), real.data()) != nullptr && ::access(real.data(), F_OK) == 0;
  program.path = has_name ? real.data() : path;
  errno = 0;
  const FileView file(path.c_str());
  if (!file.is_open()) {
    struct stat status {};
    if (errno == 0) errno = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) ? EISDIR : EACCES;
    return std::nullopt;
  }
  program.kind = file.kind();
  if (program.kind == FileKind::script) {
    program.interpreter = interpreter_of(std::string_view(file.bytes(), file.size()));
    return program;
  }
  if (const char* const loader = file.loader(); loader != nullptr) program.interpreter = loader;
  file.for_each_segment([&](const Elf64_Phdr& segment) {
    if (segment.p_type != PT_NOTE || !program.build_id.empty()) return;
    if (!file.has(segment.p_offset, segment.p_filesz, 1)) return;
    program.build_id = build_id_in({file.bytes() + segment.p_offset, segment.p_filesz});
  });
  if (program.kind != FileKind::other_machine && file.gives_rights(program.path.c_str())) {
    program.kind = FileKind::privileged;
  }
  program.is_for_injection = program.kind != FileKind::privileged && file.is_for_injection();
  program.holds_tests = file.holds_tests();
  return program;
}

namespace {

using agent::FileKind;

FileKind kind_of(std::string_view word) {
  if (word == agent::kNoteStatic) return FileKind::static_linked;
  if (word == agent::kNoteOtherLibc) return FileKind::other_libc;
  if (word == agent::kNoteOtherMachine) return FileKind::other_machine;
  return word == agent::kNotePrivileged ? FileKind::privileged : FileKind::script;
}

std::optional<OutOfReach> not_entered(const std::string& name, std::string_view word) {
  const inject::Obstacle obstacle =
      word == agent::kNoteNoCode ? inject::no_code() : inject::why_denied(word == agent::kNoteTraced);
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
    if (word == agent::kNoteSaid) continue;
    if (word != agent::kNoteLists && word != agent::kNoteEnded) return false;
    has_lists = has_lists || word == agent::kNoteLists;
  }
  return has_lists;
}

namespace {

void print_unmeasured(const std::string& what, const std::string& remedy) {
  std::fprintf(stderr, "bench: not measured: %s\n  fix: %s\n", printable(what).c_str(),
               printable_lines(remedy).c_str());
}

}  // namespace

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
    if (word == agent::kNoteSaid || word == agent::kNoteStarted) {
      const std::string text = printable_lines(name.substr(name.find(' ') + 1));
      // The same of each program, but for what counting adds to a call there.
      std::string key = text;
      const std::size_t open = std::min(key.find(" ("), key.size());
      key.erase(open, key.find(')', open) - open);
      if (word == agent::kNoteStarted && !printed.insert(key).second) continue;
      std::fprintf(stderr, "%s%s", text.c_str(), text.ends_with('\n') ? "" : "\n");
      continue;
    }
    if (word == agent::kNoteDescriptor) {
      print_unmeasured(
          name +
              " is linked statically and executed by a descriptor that is closed then, so nothing can be put into it",
          "execute it by its path, or by a descriptor without O_CLOEXEC");
      continue;
    }
    if (word == agent::kNoteBeside) {
      print_unmeasured(
          name.substr(name.find(' ') + 1) + " has two GoogleTests, and one is not linked with syscost: its tests",
          "link syscost::gtest with both, or with none");
      continue;
    }
    if (word == agent::kNoteUnreadable) {
      print_unmeasured(
          name.substr(name.find(' ') + 1) + ": its GoogleTest is no version that syscost knows (1.8 to 1.18)",
          "link the program with syscost::gtest, or measure it as a whole: bench run --process");
      continue;
    }
    if (word == agent::kNoteFiltered) {
      print_unmeasured(
          name + " runs under the seccomp filter by which syscost measured the program that started it",
          "use another backend (bench doctor says which work), or measure each program by a command of its own");
      continue;
    }
    const bool was_denied = word == agent::kNoteTraced || word == agent::kNoteNotTraced || word == agent::kNoteNoCode;
    const auto its = was_denied ? not_entered(name, word) : out_of_reach(name, kind_of(word));
    if (its) print_unmeasured(its->why, its->remedy);
  }
}

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
  // Where several processes have one number, as in containers, it is not known which one this is.
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
    lines.insert(one.name + " crashed, ended in another way before its tests did, or could not write its rows");
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
