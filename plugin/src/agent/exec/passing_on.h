// SPDX-License-Identifier: MIT
//
// A program below `bench run` passes our variables on to the programs that it executes, and notes how they ended.
//
// The environment carries the preload from program to program, and many programs change it: `env -i`, sudo, runners of
// tests with a list of variables. So the preloaded part puts our variables back where the program executes another. And
// some programs cannot be preloaded: their tests would go unmeasured without a word, so a line says it.
//
// All functions but the next four may be called between vfork() and execve(): they take no lock and allocate nothing.
// keep_what_is_passed_on() comes first, before main().
#pragma once

#include <dlfcn.h>

#include <cstddef>

namespace syscost::agent {

/// Notes what to pass on. False where this program is not below `bench run`.
bool keep_what_is_passed_on();
/// Tests have begun: from now on nothing is passed on. The environment loses what is not for tests; options
/// (SYSCOST_...) stay. One thread.
void stop_passing_on();
/// The same, but the program still passes on to what it becomes itself by execve: it may start anew before its tests.
void stop_passing_on_to_children();
/// They have ended: as before them. What other threads have read of the environment stays where it is. `is_filtered`:
/// seccomp's filter stays, so programs with tests are noted and not measured. One thread.
void go_on_passing_on(bool is_filtered);
bool is_passing_on();

/// A line of this process: `word`, its process id, and `text`. False if it could not be written.
bool note_of_this_process(const char* word, const char* text);
/// A line for a program that is not measured: `word`, and its path.
void note_unmeasured(const char* word, const char* path);
/// Tells `bench run` that this program has a test framework, so that its end is of interest: a crash before its tests
/// begin, or after they ended, leaves no row. `lists`: it is asked for a list of its tests, or for help.
void note_tests(bool lists);
/// Tells `bench run` how a child ended; `status` as waitpid() gives it. Also of children without tests: they may get
/// the process id of an earlier one with tests.
void note_ended(int child, int status);

/// The file to execute for the program at `path`: the path of syscost-inject where the program has tests and nothing
/// can be preloaded into it; else null. Where its tests cannot be measured at all, writes a line to `bench run`, which
/// prints it at its end.
const char* instead_of(const char* path);
/// The same for a program that is executed by descriptor `fd`. `path` has room for PATH_MAX bytes, and gets a path of
/// it.
const char* instead_of_descriptor(int fd, char* path);
/// The same for a program that execveat() finds by `folder`, `name` and `flags`; `name` is not empty.
const char* instead_of_entry(int folder, const char* name, int flags, char* path);
/// The same for a program that is looked for in PATH. `found` has room for PATH_MAX bytes, and gets the program's path.
const char* instead_of_found(const char* name, char* found);

// The ends of processes that the program has waited for. For `bench run`, and for the sweeps of `bench faults`.
//
// The kernel gives a status once, to the one that waits, and often it is dropped. So the functions of libc by which a
// program waits stand in front of libc's own (libc_functions.cc). `bench run` learns how a program with tests ended: a
// crash before its tests began, or after they ended, leaves no row. Each end is a line in the notes of the run
// (note_ended()). In a sweep, a child that crashes because a call failed is not the test's own crash: signals are added
// up in memory that the watcher of the run reads. Not seen: a child that no one waits for by these functions, such as
// that of `system`.

/// Maps the file of kChildEndsVariable at `path`, before main(). Nothing is counted where that fails.
void count_child_ends(const char* path);

/// Finds the function that stands after ours of the same name: libc's, or that of a library which stands in for it.
template <class Function>
void look_up_next(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace syscost::agent
