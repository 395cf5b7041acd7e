# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What each command of ./dev needs from the system, why, and how it gets there. Sourced by ./dev.
#
# A line is: package | program that proves it is there, or "-" to ask dpkg | what it is for. The program is looked for
# first, so that a compiler or CMake from elsewhere counts, too. A command lists packages before it installs them, and
# installs only the lists that it uses.

readonly packages_build="
g++             | g++          | compiles everything (C++20)
cmake           | cmake        | configures the build
ninja-build     | ninja        | runs the build
libbpf-dev      | -            | loads the eBPF programs
libdw-dev       | -            | finds the lines of calls (--syscost_where)
libseccomp-dev  | -            | writes the seccomp backend's filter
libgtest-dev    | -            | GoogleTest, for the adapter, the demos and the tests
libbenchmark-dev | -           | Google Benchmark, for its adapter
libfmt-dev      | -            | text output of bench
libcli11-dev    | -            | command line of bench
nlohmann-json3-dev | -         | JSON of bench
libboost-dev    | -            | Boost.Math, the distributions for bench's statistics
zlib1g-dev      | -            | .csv.gz files in bench
libcurl4-openssl-dev | -       | headers for bench export; the library is opened at run time
libtomlplusplus-dev | -        | reader of bench's budgets
libfccp-dev     | -            | fast-cpp-csv-parser, the reader of bench's CSVs
"

readonly packages_test="
libsqlite3-dev  | -            | a program whose files power cuts leave in many states
catch2          | -            | Catch2, for programs of its tests, linked with syscost and not
doctest-dev     | -            | the same of doctest
libzydis-dev    | -            | a decoder that the one of the dispatch backend is compared with
libgmock-dev    | -            | matchers in the tests
googletest      | -            | GoogleTest's own samples and tests, run with syscost linked in
catch2          | -            | programs with tests of Catch2
doctest-dev     | -            | programs with tests of doctest
ocl-icd-opencl-dev | -         | the GPU demo on OpenCL
opencl-headers  | -            | the GPU demo on OpenCL
pocl-opencl-icd | -            | runs it on the CPU where there is no GPU
strace          | strace       | the oracle the counts are held against
protobuf-compiler | protoc     | an independent reader of trace.pftrace
make            | make         | builds the consumers' projects, as CMake does without a word about it
pkg-config      | pkg-config   | builds a consumer without CMake
python3         | python3      | helpers of the tests
python3-pandas  | -            | runs the pandas calls of docs/csv-format.md, docs/many-machines.md
python3-prometheus-client | - | reads what bench export --format openmetrics prints
python3-yaml    | -            | reads compose.yaml and the Kubernetes manifests
python3-kubernetes | -         | holds the manifests against the API's types
clang           | clang        | rebuilds the eBPF object, to prove the committed one is current
clang-19        | clang-19     | another compiler, of which the eBPF programs must be accepted too
llvm            | llvm-strip   | strips it
bpftool         | bpftool      | makes the skeleton from it
libclang-rt-dev | -            | ThreadSanitizer of clang, for a consumer of that kind
libcap2-bin     | capsh        | runs tests with fewer capabilities
faketime        | faketime     | a library that fakes the clock of test programs
fiu-utils       | fiu-run      | a library that lets calls of test programs fail
bpftrace        | bpftrace     | a tool that --syscost_profile runs beside a test
linux-perf      | perf         | another one
gdb             | gdb          | a debugger below bench run
zsh             | zsh          | completions of bench, beside those of bash
fish            | fish         | the same
man-db          | man          | reads the manual pages as a user does
groff-base      | groff        | finds faults in them
dpkg-dev        | dpkg-shlibdeps | makes the Debian packages, to compare their lists of files
file            | file         | asks the packages' programs what they are
openssl         | openssl      | makes a certificate for the receiver of bench export
"

readonly packages_package="
dpkg-dev        | dpkg-shlibdeps | finds out which packages the programs need
file            | file         | asks the programs what they are
lintian         | lintian      | checks the packages
"

readonly packages_clang="
clang           | clang        | compiles everything, in the place of g++
"

readonly packages_fuzz="
clang           | clang        | compiles the fuzzer
libclang-rt-dev | -            | libFuzzer and the sanitizers' run-times for it
"

readonly packages_overhead="
strace          | strace       | compared: strace -c
linux-perf      | perf         | compared: perf trace -s
bpftrace        | bpftrace     | compared: a histogram script
bpfcc-tools     | syscount-bpfcc | compared: syscount
"

readonly packages_update="
libdrm-dev      | -            | headers of GPU drivers: names of their requests
graphviz        | dot          | draws the diagrams of the pages
chromium        | chromium     | takes the picture of a report for docs/report.md
python3-rich    | -            | draws what a terminal shows
"

readonly packages_kernels="
qemu-system-x86 | qemu-system-x86_64 | runs the other kernels
kmod            | depmod       | finds the modules that they need
bpftrace        | bpftrace     | a profile under each kernel
linux-perf      | perf         | a profile under each kernel
"

readonly packages_matrix="
clang           | clang        | another compiler
lld             | lld          | another linker
libc++-dev      | -            | another C++ library
libc++abi-dev   | -            | the same
musl-tools      | musl-gcc     | another C library
"

readonly packages_lint="
clang-format    | clang-format | layout of the code
clang-tidy      | clang-tidy   | the checks of .clang-tidy
shellcheck      | shellcheck   | the shell scripts
"

# Prints the lines "package | why" of the given lists that are not there.
missing_packages() {
  local list package program why
  for list in "$@"; do
    while IFS='|' read -r package program why; do
      package=${package//[[:space:]]/} program=${program//[[:space:]]/} why=${why# }
      [[ -n $package ]] || continue
      if [[ $program != - ]]; then
        # bpftool and others live in sbin, which a normal user's PATH lacks.
        PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null && continue
      fi
      # shellcheck disable=SC2016 # dpkg-query's own placeholder
      if dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then
        continue
      fi
      printf '%-20s %s\n' "$package" "$why"
    done <<<"${!list}"
  done | sort -u
}

# require_packages WHAT LIST...: makes the packages of the lists available for WHAT, or ends with 2 and says what to do.
# Reads $no_install.
require_packages() {
  local what=$1 list
  shift
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "this system has no apt-get, so nothing is installed here. Needed for $what, by their Debian names:"
    for list in "$@"; do
      sed -n 's/^\([^ |]*\) *|[^|]*| *\(.*\)/  \1: \2/p' <<<"${!list}"
    done
    return
  fi

  local missing names
  missing=$(missing_packages "$@")
  [[ -n $missing ]] || return 0
  # shellcheck disable=SC2086 # one word per package
  names=$(awk '{ printf "%s%s", (NR > 1 ? " " : ""), $1 }' <<<"$missing")
  say "for $what, these packages are missing:"
  sed 's/^/  /' <<<"$missing"

  local as_root=()
  if ((EUID != 0)); then
    as_root=(sudo)
  fi
  if [[ $no_install == yes ]]; then
    die "nothing is installed with --no-install. Install them with:" "    ${as_root[*]:+sudo }apt-get install $names"
  fi
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "installing needs root, and there is no sudo. As root, run:" \
      "    apt-get install $names"
    # Without a terminal sudo cannot ask for a password; say so instead of hanging or failing obscurely.
    [[ -t 0 ]] || sudo -n true 2>/dev/null ||
      die "installing needs root, and sudo cannot ask for a password here. Run:" "    sudo apt-get install $names"
  fi
  say "installing them (--no-install refuses instead)"
  "${as_root[@]}" apt-get update -qq || die "apt-get update failed; is the network there?"
  local log
  log=$(mktemp -t syscost-apt.XXXXXX)
  # shellcheck disable=SC2086 # one word per package
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends $names >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "apt-get install failed; its whole output is in $log"
  }
  rm -f "$log"
}
