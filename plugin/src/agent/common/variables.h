// SPDX-License-Identifier: MIT
//
// The information from `bench run` for the programs below it, beside the variables of options.
#pragma once

namespace syscost::agent {

/// The path in LD_PRELOAD that is ours. It does not begin with SYSCOST_, because those are options.
constexpr const char* kPreloadVariable = "_SYSCOST_PRELOAD";

/// Where the programs of a command count themselves: the memory in which they do, and its mark. Known to
/// extras/commands/stub/command.h.
constexpr const char* kCommandVariable = "_SYSCOST_COMMAND";

/// Set where a program that was measured by seccomp starts others after its tests: the filter stays, so those are not
/// measured.
constexpr const char* kFilteredVariable = "_SYSCOST_FILTERED";

/// A file to which programs below write a line for each program that cannot be measured: one of these words, a space,
/// and the program's path.
constexpr const char* kNotesVariable = "_SYSCOST_NOTES";
constexpr const char* kNoteStatic = "static";
constexpr const char* kNoteOtherLibc = "libc";
constexpr const char* kNoteOtherMachine = "machine";
constexpr const char* kNotePrivileged = "rights";
constexpr const char* kNoteDescriptor = "descriptor";  // a static one, by a descriptor that its execution closes
constexpr const char* kNoteTraced = "traced";          // by another
constexpr const char* kNoteNotTraced = "ptrace";       // denied
constexpr const char* kNoteNoCode = "code";            // it may make no code
constexpr const char* kNoteBeside = "beside";          // a GoogleTest that is not linked, in a program that is
constexpr const char* kNoteFiltered = "filtered";      // kFilteredVariable is set
constexpr const char* kNoteUnreadable = "unreadable";  // its tests ran, and nothing of them was understood
/// A program that syscost ended, because it could not measure it: after this word its process id, a space, and why.
constexpr const char* kNoteRefused = "refused";
/// A program with a test framework has started: the file of its namespace of processes, its process id, its parent's,
/// and its name.
constexpr const char* kNoteTests = "tests";
/// The same of a program that is asked for a list of its tests or for help.
constexpr const char* kNoteLists = "lists";
/// A process was waited for: the namespace and the process id of its parent, its own process id, and its status.
constexpr const char* kNoteEnded = "ended";
/// A process ends with another exit code than its program chose, because of a problem of ours: its process id.
constexpr const char* kNoteVerdict = "verdict";
/// "said PROCESS TEXT": a message of a process that has no output for it.
constexpr const char* kNoteSaid = "said";
/// "started PROCESS TEXT": how a program is measured, where its output is not that of `bench run`.
constexpr const char* kNoteStarted = "started";

/// A file of kEndSignals numbers (std::uint32_t), in which the programs of a sweep of `bench faults` count the signals
/// that ended processes for which they waited (agent/exec/passing_on.h). Known to bench.
constexpr const char* kChildEndsVariable = "_SYSCOST_CHILD_ENDS";
constexpr int kEndSignals = 65;

/// In ASAN_OPTIONS: the library of AddressSanitizer does not end a program because ours comes before it.
constexpr const char* kAsanOrder = "verify_asan_link_order=0";

/// Beside libsyscost-preload.so: executes a program into which nothing can be preloaded. Its arguments: the program's
/// path, and the program's own arguments from the name on.
constexpr const char* kInjectProgram = "syscost-inject";
/// The program that kInjectProgram puts into the other one.
constexpr const char* kGuestProgram = "syscost-guest";

/// Texts that each program with a framework has, whatever was stripped: first of GoogleTest a line that it prints; of
/// Catch2 3 and 2, of doctest and of Google Benchmark the name of a class, which is there unless the program was built
/// with -fno-rtti.
constexpr const char* kFrameworkMarks[] = {"[ RUN      ] ", "N5Catch14IEventListenerE", "N5Catch18IStreamingReporterE",
                                           "N7doctest9IReporterE", "N9benchmark17BenchmarkReporterE"};

}  // namespace syscost::agent
