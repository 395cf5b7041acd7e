// SPDX-License-Identifier: MIT
//
// The programs of a run: their files, whether the agent can be preloaded into them, and how they ended.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "agent/find/file_kind.h"
#include "bench_run/row_file.h"

namespace syscost::bench_run {

using agent::FileKind;

/// The file of a command, read before it is started.
struct ProgramFile {
  std::string path;             ///< Absolute, without symbolic links where the file has such a name.
  std::string path_to_execute;  ///< As it was found.
  FileKind kind = FileKind::script;
  std::string interpreter;        ///< A dynamic program's loader; for a script, the program that runs it.
  bool is_for_injection = false;  ///< FileView::is_for_injection(), and it gives no rights.
  bool holds_tests = false;  ///< By a framework that the agent knows; linked into it or a library of the framework.
  std::string build_id;      ///< The linker's, in hex; empty where there is none.

  /// The name under which the kernel knows the process: of a script that of its interpreter.
  std::string process_name() const;
};

/// The file that `command` names, looked for in PATH where it has no slash. Nothing where there is no such file that
/// may be executed; errno says why.
std::optional<std::string> find_program(const std::string& command);

/// Reads the file at `path`. Nothing where it cannot be read or is a folder (EISDIR); errno says why.
std::optional<ProgramFile> read_program(const std::string& path);

/// A program with tests into which nothing can be preloaded. As the command it is refused before it starts. Below a
/// runner it runs, and `bench run` names it at its end: the preloaded part of the runner wrote it down.
struct OutOfReach {
  std::string why;     ///< A sentence that begins with the program's name.
  std::string remedy;  ///< Says what to do.
};
/// Nothing where the agent can be preloaded into a program of this kind.
std::optional<OutOfReach> out_of_reach(const std::string& name, agent::FileKind kind);

/// The file for the lines of programs below.
class Notes {
 public:
  /// Makes the file at `path`, where nothing is, and tells the programs below of it. Where no file can be made there,
  /// nothing is noted.
  explicit Notes(std::string path);

  /// Why syscost ended the program of `process` instead of measuring it; empty where it did not.
  std::string refusal_of(pid_t process) const;

  /// The end of a process with a test framework.
  struct End {
    pid_t process;
    std::string program;  ///< As the CSV names it.
    int status;           ///< As waitpid() gives it.
  };
  /// Those that their parents waited for, and `command`, which ended with `status`. Without those for which syscost
  /// chose the exit code, and those that ended with one after they were asked for a list of their tests.
  std::vector<End> ends(pid_t command, int status) const;

  /// True where there was a program with a test framework, and each one was asked for a list of its tests or for help.
  bool are_of_lists_only() const;

  /// Prints each program once.
  void print() const;

 private:
  std::string path_;
};

/// Appends rows of these ends to the CSV, and prints a line for each program, unless a summary prints it. They are ends
/// that no row of a test shows.
///
/// A program may crash before its tests begin, in a static object or in main(), and then it has no row. Or it crashes
/// after they ended, or main() returns a code of its own: then all its rows are green. Only its parent learns of it,
/// and the preloaded part of the parent notes it (agent/exec/passing_on.h).
void tell_ends(const std::vector<Notes::End>& ends, const RowFile& rows);

}  // namespace syscost::bench_run
