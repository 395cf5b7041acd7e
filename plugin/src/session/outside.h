// SPDX-License-Identifier: MIT
//
// Measures a command from outside: the processes below this one, whatever they are. For `bench run` and for nothing
// else, so no program of a user's is linked with it, and it may change at any time.
//
// After the command it also writes the rows of kind `run` that say how the processes of test programs ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/errors.h"
#include "syscost/adapter.h"
#include "syscost/cost.h"
#include "syscost/export.h"

namespace syscost::session {

/// How the process of a test program ended, where the rows of its tests do not explain it.
struct ProgramEnd {
  std::string program;
  int process = 0;
  std::string how;          ///< "SIGABRT" or "exit code 7".
  std::string first_cells;  ///< The columns before `kind` as the program wrote them; empty if it has no row.
};

/// Appends a row for each to the CSV at the absolute path `csv`.
Result<void> write_program_ends(const std::string& csv, const std::vector<ProgramEnd>& ends);

}  // namespace syscost::session

namespace syscost::outside {

/// Starts the session, with a backend that counts child processes. Returns the reason if that is not possible; then
/// nothing is opened. Prints the header line. `program` and `build_id`: the columns of the command's rows.
/// `obstacle_inside`: why nothing can be preloaded into the command, as the rest of a sentence; empty = it can.
SYSCOST_EXPORT std::optional<Unavailable> start(std::string_view program, std::string_view build_id,
                                                std::string_view obstacle_inside);

/// After start(): the text by which the programs of the command find the memory in which they count themselves. Empty
/// if they are counted from outside.
SYSCOST_EXPORT std::string memory_of_programs();

/// After the command has ended: a part of it that is not in the rows, and the reason.
struct NotCounted {
  std::string what;
  std::string why;
  bool is_program_file = false;  ///< `what` is the path of a program into which nothing was loaded.
};
SYSCOST_EXPORT std::vector<NotCounted> not_counted();

/// After start(): true if set-uid programs below lose their rights by the backend, as by a seccomp filter of an
/// ordinary user (no_new_privs).
SYSCOST_EXPORT bool takes_rights();

/// Returns why no rows can be written to the CSV at the absolute path `path`; none if they can. Creates no file.
SYSCOST_EXPORT std::optional<Unavailable> check_csv(const std::string& path);

/// For tests below that measure themselves: makes the part that their backends share, and keeps it until this process
/// ends. Otherwise the first of them, and the next one after a pause, would wait for it.
SYSCOST_EXPORT void hold_shared();

/// From now on the calls of the processes below are counted. Its last step is one store.
SYSCOST_EXPORT void open(std::string_view command);

/// After open(): the time is divided into intervals, with a row of kind `interval` each. next_interval() ends one and
/// begins the next; close() ends the last one.
SYSCOST_EXPORT void open_intervals();
SYSCOST_EXPORT void next_interval();

/// Writes the rows: kind `process`, and the name that open() got. The calls of `own_program` are in them, and each
/// other program has rows of its own; an empty name: the rows have the calls of all programs. `outcome`: "passed" or
/// "failed".
/// False where rows are missing; the reason is printed.
SYSCOST_EXPORT bool close(std::string_view own_program, std::string_view outcome);

/// In a program below `bench run` that is about to be ended, because it cannot be measured: tells `bench run` why. It
/// could not tell the exit code of such an end from the program's own.
SYSCOST_EXPORT void note_refused(const char* why);

using ProgramEnd = session::ProgramEnd;
/// Appends a row for each to the CSV at the absolute path `csv`. Returns why that is not possible.
SYSCOST_EXPORT std::optional<Unavailable> write_ends(const std::string& csv, const std::vector<ProgramEnd>& ends);

/// Forgets the counts.
SYSCOST_EXPORT void discard();

/// Backend::process_control() of this process's session; null where no backend is open, and in a fork child of the
/// measured process. For agent/guest.
SYSCOST_EXPORT std::uint64_t* process_control();

/// Messages name the flags of `bench run`, which started this process (os/text.h).
SYSCOST_EXPORT void name_flags_of_bench_run();

}  // namespace syscost::outside
