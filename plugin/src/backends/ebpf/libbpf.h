// SPDX-License-Identifier: MIT
//
// libbpf: its functions, found at run time, and its log.
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

#include <cstdarg>
#include <string>
#include <string_view>

#include "os/errors.h"

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

/// libbpf's words about a failure; empty where it said nothing of the kind. It explains a failure on its log only, in
/// several messages. The last one says next to nothing ("failed to load BPF skeleton: -13"), and the reason, the
/// verifier's own log, stands in one before it. This keeps both, so that our message can carry them.
struct LibbpfWords {
  std::string last_line;         ///< Of its last message.
  std::string refused_program;   ///< The program that the verifier refused.
  std::string verifiers_reason;  ///< The end of the verifier's log: the source line, the instruction, what is wrong.

  /// One message.
  void hear(std::string_view message);
};

/// While one lives, libbpf's messages of the calling thread go to it and not to stderr. Only after open_libbpf()
/// succeeded; one at a time per thread.
class LibbpfLog {
 public:
  LibbpfLog();
  ~LibbpfLog();
  LibbpfLog(const LibbpfLog&) = delete;
  LibbpfLog& operator=(const LibbpfLog&) = delete;

  const LibbpfWords& words() const { return words_; }

 private:
  static int print(libbpf_print_level level, const char* format, std::va_list arguments);

  LibbpfWords words_;
  libbpf_print_fn_t previous_;
};

}  // namespace syscost::ebpf
