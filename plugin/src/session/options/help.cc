// SPDX-License-Identifier: MIT
#include "session/options/help.h"

#include <cstdio>

namespace syscost::session {

void print_help() {
  std::fputs(R"(syscost: which syscalls each test makes, how often, and for how long

  ./my_tests --syscost_profile syscalls        one line under each test: [ SYSCOST  ] 1024 write, 131 us in the kernel
  ./my_tests --syscost_csv out.csv             appends rows for every test to out.csv; read it with: bench summary out.csv
  SYSCOST_CSV=out.csv ctest -j8                the same for all test programs of a build, in one file
  ./my_tests --gtest_filter=Log.* --syscost_csv out.csv --syscost_label after
                                               only some tests, with a label on each row
  ./my_tests --syscost_profile bpftrace --syscost_bpf syslat
                                               runs bpftrace on each test and loop; --syscost_bpf list shows the scripts
  ./my_tests --syscost_doctor                  what works here, and how to get the rest

flags, as --flag value or --flag=value           variable             meaning
  --syscost_csv FILE                             SYSCOST_CSV          append rows to FILE (docs/csv-format.md)
  --syscost_profile LIST                         SYSCOST_PROFILE      syscalls: print a line under each test;
                                                                      bpftrace, perf: run that tool on each test and loop;
                                                                      cupti: kernels and copies of a GPU, in a separate run
  --syscost_bpf NAME[,NAME]|list                 SYSCOST_BPF          bpftrace scripts to run, default syslat; list: show them
  --syscost_bpf_path DIR[:DIR]                   SYSCOST_BPF_PATH     folders with your own scripts
  --syscost_bpf_sudo                             SYSCOST_BPF_SUDO=1   start the tool with sudo -n
  --syscost_artifacts DIR                        SYSCOST_ARTIFACTS    where its output goes; default: syscost_artifacts in the
                                                                      folder of the CSV, or here
  --syscost_backend NAME                         SYSCOST_BACKEND      how to count: auto, ebpf, dispatch, dispatch-trap,
                                                                      seccomp; none: times only, counts stay empty
  --syscost_filter SELECTOR                      SYSCOST_FILTER       count only these: getppid, %file, '%network,!accept'
  --syscost_children                             SYSCOST_CHILDREN=1   count child processes too, in rows of their own
  --syscost_detail ioctl[,thread:NAME]           SYSCOST_DETAIL       rows for each request of ioctl, by device and name;
                                                                      separate rows for threads named NAME...
  --syscost_cycles N                             SYSCOST_CYCLES       calls of a counted pass of a loop or benchmark
  --syscost_repeats N                            SYSCOST_REPEATS      timed, and counted, passes of a loop; default 10
  --syscost_warmup N                             SYSCOST_WARMUP       passes of a loop before the timed ones; default 1
  --syscost_quick                                SYSCOST_QUICK=1      3 repeats, and loops of a tenth of a second
  --syscost_allow_lost                           SYSCOST_ALLOW_LOST=1 lost events do not make the run end non-zero
  --syscost_label TEXT                           SYSCOST_LABEL        column `label` of every row
  --syscost_doctor                               SYSCOST_DOCTOR=1     print what works here; exit 0 if anything does, else 1
  --syscost_help                                 SYSCOST_HELP=1       this text

variables without a flag
  SYSCOST_RUN_ID=TEXT          groups the rows of several programs; by default one ctest run is one run
  SYSCOST_COMMIT=HASH          column `commit`; by default from the CI system or the repository around the folder
  SYSCOST_BUILD_TYPE=TEXT      column `build_type`
  SYSCOST_CUPTI=FILE           libcupti for --syscost_profile cupti, if it is not found
  SYSCOST_UNAVAILABLE=skip|fail  assertions if nothing can count; by default they fail if CI is set, else skip
  SYSCOST_MARKERS=1            marks each test in a log of strace, by writes to descriptor -1

A flag wins over its variable. Programs with syscost's own main also take --csv, --profile, --bpf, --bpf_path, --bpf_sudo,
--artifacts, --backend, --filter, --detail, --children, --cycles, --repeats, --warmup, --quick, --allow_lost, --label and --doctor. A flag or value syscost does not know ends the program with exit code 2 before any test.
)",
             stdout);
  std::fflush(stdout);
}

}  // namespace syscost::session
