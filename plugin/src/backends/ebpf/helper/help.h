// SPDX-License-Identifier: MIT
//
// The text that syscost-ebpf-helper --help prints; its manual page is made of it (bench_tool/shell).
#pragma once

namespace syscost::ebpf {

inline constexpr const char* kHelperHelp =
    R"(Usage: syscost-ebpf-helper [--for-everyone | --help]

This program holds syscost's BPF programs, so that all measured processes of a
user share them. libsyscost.so starts it when a process measures by eBPF. It ends
five seconds after its last client. You start it yourself only with
`--for-everyone`.

Users without CAP_BPF and CAP_PERFMON can measure by eBPF if the file of this
program has both. Root grants them, again after each installation, with
`setcap cap_bpf,cap_perfmon+ep syscost-ebpf-helper`. From Linux 7.0 on add
cap_dac_read_search.

With `--for-everyone` it listens on a socket in /run/syscost, a folder that only
root can write to. It serves the processes of all users until you end it.

Options:
  --for-everyone  Serve all users. Only root can do this.
  --help          Print this text and exit.
)";

}  // namespace syscost::ebpf
