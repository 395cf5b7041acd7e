// SPDX-License-Identifier: MIT
//
// LibbpfLog: what libbpf says while it works for us.
//
// libbpf explains a failure on its log only, in several messages. The last one says next to nothing ("failed to load
// BPF skeleton: -13"), and the reason, the verifier's own log, stands in one before it. This keeps both, so that our
// message can carry them.
#pragma once

#include <bpf/libbpf.h>

#include <cstdarg>
#include <string>
#include <string_view>

namespace syscost::ebpf {

/// What libbpf said of a failure; empty where it said nothing of the kind.
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
