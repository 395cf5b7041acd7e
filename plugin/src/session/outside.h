// SPDX-License-Identifier: MIT
//
// Measures a command from outside: the processes below this one, whatever they are. For `bench run` and for nothing
// else, so no program of a user's is linked with it, and it may change at any time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "syscost/adapter.h"
#include "syscost/cost.h"
#include "syscost/export.h"

namespace syscost::outside {

/// Starts the session, with a backend that counts child processes. Says why where that cannot be; then nothing is
/// opened. Prints the header line. `program` and `build_id`: the columns of the command's rows. `obstacle_inside`: why
/// nothing can be preloaded into the command, as the rest of a sentence; empty = it can.
SYSCOST_EXPORT std::optional<Unavailable> start(std::string_view program, std::string_view build_id,
                                                std::string_view obstacle_inside);

/// After start(): where the programs of the command count themselves, what they need to find the memory in which they
/// do. Empty where they are counted from outside.
SYSCOST_EXPORT std::string command_memory();

/// After the command has ended: what of it is not in the rows, and why.
struct NotCounted {
  std::string what;
  std::string why;
  bool is_program_file = false;  ///< `what` is the path of a program into which nothing was loaded.
};
SYSCOST_EXPORT std::vector<NotCounted> not_counted();

/// After start(): true where the backend takes the rights of set-uid programs below, as a seccomp filter of an ordinary
/// user does (no_new_privs).
SYSCOST_EXPORT bool takes_rights();

/// Why no rows can be written to the CSV at the absolute path `path`; nothing where they can. Creates no file.
SYSCOST_EXPORT std::optional<Unavailable> check_csv(const std::string& path);

/// For tests below that measure themselves: what their backend shares is made now, and stays until this process ends.
/// Otherwise the first of them, and the next after a pause, would wait for it.
SYSCOST_EXPORT void hold_shared();

/// What the processes below ask for from now on is counted. The last thing it does is one store.
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

/// Forgets what was counted.
SYSCOST_EXPORT void discard();

/// Backend::process_control() of this process's session; null where no backend is open. For agent/guest.
SYSCOST_EXPORT std::uint64_t* process_control();

}  // namespace syscost::outside
