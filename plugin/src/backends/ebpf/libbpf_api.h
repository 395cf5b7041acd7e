// SPDX-License-Identifier: MIT
//
// libbpf, found at run time.
//
// A measured program must start on a machine without libbpf, and must not be made to depend on it by us. So libsyscost
// does not link libbpf: it opens libbpf.so.1 when the eBPF backend is opened, and without it says so. The library is
// loaded locally: its symbols do not reach the program.
//
// The functions keep their C names here; skeleton.h makes generated code call them.
#pragma once

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "os/result.h"

namespace syscost::ebpf {

#define SYSCOST_LIBBPF_FUNCTIONS(X) \
  X(btf__find_by_name_kind)         \
  X(btf__free)                      \
  X(btf__load_vmlinux_btf)          \
  X(btf__name_by_offset)            \
  X(btf__type_by_id)                \
  X(bpf_map__fd)                    \
  X(bpf_map__set_autocreate)        \
  X(bpf_map__set_inner_map_fd)      \
  X(bpf_map__set_max_entries)       \
  X(bpf_map_create)                 \
  X(bpf_map_update_batch)           \
  X(bpf_map_update_elem)            \
  X(bpf_obj_get_info_by_fd)         \
  X(bpf_object__attach_skeleton)    \
  X(bpf_object__destroy_skeleton)   \
  X(bpf_object__detach_skeleton)    \
  X(bpf_object__load_skeleton)      \
  X(bpf_object__open_skeleton)      \
  X(bpf_program__fd)                \
  X(bpf_program__set_autoload)      \
  X(bpf_raw_tracepoint_open)        \
  X(libbpf_num_possible_cpus)       \
  X(libbpf_set_print)

struct LibbpfApi {
#define SYSCOST_LIBBPF_POINTER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  SYSCOST_LIBBPF_FUNCTIONS(SYSCOST_LIBBPF_POINTER)
#undef SYSCOST_LIBBPF_POINTER
};

/// Opens libbpf.so.1, once per process; later calls answer the same. Thread-safe.
Result<const LibbpfApi*> open_libbpf();

/// The opened library. Only after open_libbpf() succeeded.
const LibbpfApi& libbpf();

}  // namespace syscost::ebpf
