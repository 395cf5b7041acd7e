// SPDX-License-Identifier: MIT
//
// The counts of a command and of the processes below it (`bench run`), in memory that all of them share.
//
// syscost-run makes the memory, and reads it. Each program that the command executes maps it, from before its first
// constructor on, and counts into the part of its name. A child made by fork() goes on counting there. The memory
// outlives each process: what a process counted before a signal killed it is not lost. Many processes add to a number
// at the same time, so every update is one locked instruction.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/common/call.h"

namespace syscost::signal_safe {

inline constexpr std::uint32_t kPrograms = 64;  ///< Distinct programs of a command; more are not counted.
inline constexpr std::uint32_t kImages = 64;    ///< Programs that begin at the same time; of more the names are lost.
inline constexpr std::uint32_t kNameBytes = 64;
inline constexpr std::uint32_t kPathBytes = 240;

/// How far something is that one thread makes while others may look.
enum class Making : std::uint32_t { none, begun, done };

/// The counts of all processes that run one program.
struct ProgramCounts {
  Making making;
  std::uint32_t padding;
  char name[kNameBytes];  ///< Its file's; ends with a 0.
  Directory directory;
  Cell cells[kSlots];
  std::uint64_t errors[kErrorSlots];
};

/// Why calls of a process are not counted.
enum class Blind : std::uint32_t {
  not_loaded,      ///< Nothing was loaded into the program: static, set-uid, another C library, another root folder.
  filtered,        ///< A seccomp filter may kill the process for what counting needs.
  too_old,         ///< The processor or the kernel lacks something.
  debugger,        ///< It would stop at each call.
  valgrind,        ///< It knows no Syscall User Dispatch.
  uses_gs,         ///< The program uses the gs register.
  refused,         ///< The kernel refused memory or Syscall User Dispatch.
  shared_process,  ///< A process that shares the memory of another and runs beside it.
  many_programs,   ///< kPrograms programs have parts already.
  thread,          ///< There was no place for another thread, or the kernel refused.
  count_,
};

/// A program that a process is about to execute: taken back when it counts, or when execve fails.
struct ComingImage {
  Making making;
  std::uint32_t process;  ///< 0 = the command itself.
  Blind blind;            ///< Why it does not count; known where it was there and could not.
  std::uint32_t has_filter;
  char path[kPathBytes];  ///< As execve got it, cut; ends with a 0.
};

struct CommandCounts {
  std::uint64_t cookie;
  std::uint64_t bytes;
  std::uint64_t frame_bytes;
  std::uint64_t ns_per_tick;
  VectorPart vector_parts[kVectorParts];
  std::uint32_t ignores_unlisted;
  std::uint32_t padding;
  std::uint64_t not_selected[kAbis * kNumbers / 64];
  std::uint64_t lost;      ///< Calls and errors for which there was no slot, and those of too many programs.
  std::uint64_t aside[8];  ///< Processes that stood aside, by StoodAside.
  std::uint64_t blind[static_cast<std::uint32_t>(Blind::count_)];  ///< Processes and threads, beside those in `images`.
  ComingImage images[kImages];
  ProgramCounts programs[kPrograms];
};

/// In a process of a command: where it counts, and all of it. Null elsewhere.
extern ProgramCounts* program_counts;
extern CommandCounts* command_counts;

/// The variables that each program that is executed gets in its environment.
struct Passed {
  char preload[4096];  ///< "LD_PRELOAD=PATH"
  char variable[128];  ///< "_SYSCOST_COMMAND=..."
};
extern Passed passed;

inline constexpr char kCommandVariable[] = "_SYSCOST_COMMAND=";
inline constexpr char kPreloadVariable[] = "LD_PRELOAD=";
inline constexpr char kAsanVariable[] = "ASAN_OPTIONS=";
/// The library of AddressSanitizer does not end a program because ours comes before it.
inline constexpr char kAsanOrder[] = "verify_asan_link_order=0";

inline void add_shared(std::uint64_t& word, std::uint64_t value) {
  asm volatile("lock addq %1, %0" : "+m"(word) : "er"(value) : "cc");
}
inline void note_blind(Blind reason) {
  if (command_counts != nullptr) add_shared(command_counts->blind[static_cast<std::uint32_t>(reason)], 1);
}

/// The part of `name`, made where there is none; null where there are too many.
ProgramCounts* find_program(const Guard& guard, CommandCounts& command, const char* name);
/// The image that was announced for this process; null where none was.
ComingImage* coming_image(CommandCounts& command, std::uint32_t process);

/// A call of execve or execveat: announces the program, and gives it our variables.
void prepare_execution(Call& call);
/// It failed.
void finish_execution(Call& call);

/// Before a clone of which the child runs with its maker's record, and the maker waits for its end.
void lend_record(Call& call);
/// The child has ended, or is another program: the record is as it was.
void take_record_back(Call& call);
/// In a child. False, and noted, where it is not counted.
bool count_in_child(const Guard& guard, bool has_own_memory, bool is_waited_for);

}  // namespace syscost::signal_safe
