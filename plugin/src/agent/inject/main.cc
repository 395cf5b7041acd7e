// SPDX-License-Identifier: MIT
//
// syscost-inject PROGRAM ARGUMENT0...: executes PROGRAM in this process, with syscost-guest in it.
//
// A child of this process traces it from before execve() until the guest begins, which is before the program's first
// instruction. The guest waits for the child's end, so the program has no child that it did not make. The process keeps
// its id, its parent and its descriptors.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "agent/common/clean_variable.h"
#include "agent/common/listing.h"
#include "agent/common/variables.h"
#include "agent/inject/permission.h"
#include "agent/inject/tracee.h"
#include "os/command_line.h"
#include "os/program_files.h"
#include "os/signals.h"

namespace syscost::inject {
namespace {

/// The environment that the program's tests see, and pass on: without what is for programs below `bench run`.
std::vector<std::string> program_environment() {
  const char* const ours = getenv(agent::kPreloadVariable);
  std::vector<std::string> kept;
  for (char** one = __environ; *one != nullptr; ++one) {
    std::string room(std::strlen(*one) + 1, '\0');
    if (const char* const clean = agent::clean_variable(*one, ours, room.data()); clean != nullptr)
      kept.emplace_back(clean);
  }
  return kept;
}

/// The guest's: the loader and the C library read variables that are meant for the program.
std::vector<std::string> guest_environment(const std::vector<std::string>& programs) {
  std::vector<std::string> kept;
  for (const std::string& one : programs) {
    if (one.starts_with("LD_LIBRARY_PATH=")) kept.push_back(one);
    if (one.starts_with("LD_") || one.starts_with("MALLOC_") || one.starts_with("GLIBC_TUNABLES=")) continue;
    kept.push_back(one);
  }
  if (const char* const notes = getenv(agent::kNotesVariable); notes != nullptr) {
    kept.push_back(std::string(agent::kNotesVariable) + "=" + notes);
  }
  // A thread has one place for restartable sequences, and it is the program's.
  kept.emplace_back("GLIBC_TUNABLES=glibc.pthread.rseq=0");
  return kept;
}

/// Empty if the folder of this program is not known, and errno says why.
std::string beside(const char* name) {
  const std::string path = own_program_path();
  return path.empty() ? path : path.substr(0, path.rfind('/') + 1) + name;
}

/// A line for `bench run`.
void note(const char* word, const std::string& text) {
  const char* const notes = getenv(agent::kNotesVariable);
  const int fd = notes != nullptr ? open(notes, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  if (fd < 0) return;
  std::string line = std::string(word) + " " + text;
  std::replace(line.begin(), line.end(), '\n', '\0');  // as the preloaded part writes names
  line += '\n';
  [[maybe_unused]] const ssize_t written = write(fd, line.data(), line.size());
  close(fd);
}

/// The file of a program that is executed by a descriptor.
std::string file_of(const std::string& program) {
  if (!program.starts_with("/proc/self/fd/")) return program;
  std::string name(PATH_MAX, '\0');
  const ssize_t size = readlink(program.c_str(), name.data(), name.size());
  return size > 0 ? name.substr(0, static_cast<std::size_t>(size)) : program;
}

/// As note_tests() of the preloaded part, which stays out of the program.
void note_tests(std::string_view name, char* const* arguments) {
  struct stat status {};
  const bool is_known = stat("/proc/self/ns/pid", &status) == 0;
  const bool lists = agent::asks_for_list(arguments, nullptr);
  note(lists ? agent::kNoteLists : agent::kNoteTests, std::to_string(is_known ? status.st_ino : 0) + " " +
                                                          std::to_string(getpid()) + " " + std::to_string(getppid()) +
                                                          " " + std::string(name.substr(name.rfind('/') + 1)));
}

/// The tracer's life. `answer`: where the process waits for an errno, 0 = it is traced.
[[noreturn]] void be_tracer(pid_t process, int answer, const Guest& guest, const char* program) {
  Tracee tracee(process);
  const int error = -tracee.seize();
  [[maybe_unused]] const ssize_t written = write(answer, &error, sizeof error);
  close(answer);
  if (error != 0 || !tracee.wait_for_program()) _exit(0);
  const std::string why = start_guest(tracee, guest);
  if (!why.empty()) {
    std::fprintf(stderr, "syscost: the tests of %s are not measured: %s\n", program, why.c_str());
  }
  _exit(0);
}

/// A child that sends no signal when it ends. waitpid() finds it only with __WCLONE.
pid_t fork_quietly() {
  return static_cast<pid_t>(syscall(SYS_clone, 0, 0, 0, 0, 0));
}

/// errno where this process cannot be traced.
int start_tracer(const Guest& guest, const char* program) {
  const pid_t process = getpid();
  int question[2];  // this process: it has said who may trace it
  int answer[2];
  if (pipe2(question, O_CLOEXEC) != 0 || pipe2(answer, O_CLOEXEC) != 0) return errno;
  const pid_t tracer = fork_quietly();
  if (tracer < 0) return errno;
  if (tracer == 0) {
    close(question[1]);
    close(answer[0]);
    char go = 0;
    if (read(question[0], &go, 1) != 1) _exit(0);
    be_tracer(process, answer[1], guest, program);
  }
  close(question[0]);
  close(answer[1]);
  // Where Yama lets only an ancestor trace. Fails where there is no Yama.
  prctl(PR_SET_PTRACER, static_cast<unsigned long>(tracer), 0, 0, 0);
  const char go = 1;
  int error = ECHILD;
  if (write(question[1], &go, 1) != 1 || read(answer[0], &error, sizeof error) != sizeof error) error = ECHILD;
  close(question[1]);
  close(answer[0]);
  if (error == 0) return 0;
  while (waitpid(tracer, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  return error;
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("syscost-inject: bench run executes it; it needs a program and its arguments, argument 0 included\n",
               stderr);
    return 2;
  }
  const char* const program = argv[1];
  std::vector<std::string> environment = program_environment();
  const std::string guest_program = beside(agent::kGuestProgram);
  const int why_unknown = errno;
  Guest guest{guest_program, guest_environment(environment), 0};
  sigset_t before;
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGTRAP);  // by which a call for the tracer ends
  // Until the program starts: what comes earlier would end it in our code.
  sigprocmask(SIG_SETMASK, &all, &before);
  std::memcpy(&guest.signals, &before, sizeof guest.signals);
  if (guest_program.empty()) {
    std::fprintf(stderr, "syscost: the tests of %s are not measured: %s\n  fix: %s\n", program,
                 why_own_program_is_unknown(why_unknown).c_str(), kOwnProgramRemedy);
    sigprocmask(SIG_SETMASK, &before, nullptr);
  } else if (!may_set_fs_register() || !may_make_code() || start_tracer(guest, program) != 0) {
    note(!may_make_code() ? agent::kNoteNoCode
         : has_tracer()   ? agent::kNoteTraced
                          : agent::kNoteNotTraced,
         file_of(program));
    sigprocmask(SIG_SETMASK, &before, nullptr);
  } else {
    note_tests(argv[2], argv + 2);
  }
  const std::vector<char*> variables = null_ended(environment);
  // Not by libc's function: the preloaded part stands before it, and would execute this program again.
  syscall(SYS_execve, program, argv + 2, variables.data());
  const int error = errno;
  const std::string why = std::string(program) + ": " + std::strerror(error);
  std::fprintf(stderr, "syscost: %s\n", why.c_str());
  note(agent::kNoteRefused, std::to_string(getpid()) + " " + why);
  return error == ENOENT ? 127 : 126;
}

}  // namespace
}  // namespace syscost::inject

int main(int argc, char** argv) {
  syscost::survive_size_limit();
  return syscost::inject::run(argc, argv);
}
