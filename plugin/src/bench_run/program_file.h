// SPDX-License-Identifier: MIT
//
// What the file of a command is, read before it is started: whether the agent can be preloaded into it, and whether it
// holds tests.
#pragma once

#include <optional>
#include <string>

#include "agent/find/file_kind.h"

namespace syscost::bench_run {

using agent::FileKind;

struct ProgramFile {
  std::string path;             ///< Absolute, without symbolic links where the file has such a name.
  std::string path_to_execute;  ///< As it was found.
  FileKind kind = FileKind::script;
  std::string interpreter;        ///< Of a dynamic program, its loader; of a script, the program that runs it.
  bool is_for_injection = false;  ///< FileView::is_for_injection(), and it gives no rights.
  bool holds_tests = false;  ///< Of a framework that the agent knows; linked into it or a library of the framework.
  std::string build_id;      ///< Of the linker, in hex; empty where there is none.

  /// The name under which the kernel knows the process: of a script that of its interpreter.
  std::string process_name() const;
};

/// The file that `command` names, looked for in PATH where it has no slash. Nothing where there is no such file that
/// may be executed; errno says why.
std::optional<std::string> find_program(const std::string& command);

/// Reads the file at `path`. Nothing where it cannot be read or is a folder (EISDIR); errno says why.
std::optional<ProgramFile> read_program(const std::string& path);

}  // namespace syscost::bench_run
