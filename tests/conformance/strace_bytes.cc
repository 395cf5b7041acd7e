// SPDX-License-Identifier: MIT
//
// How many bytes the calls of a log moved, mapped and unmapped, from the text of their arguments and results.
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "strace_log.h"

namespace conformance {
namespace {

/// The arguments, which commas separate; not those inside quotes or brackets.
std::vector<std::string> arguments_of(std::string_view text) {
  std::vector<std::string> arguments(1);
  bool is_quoted = false;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted && c == '\\') {
      ++i;
      continue;
    }
    if (c == '"') is_quoted = !is_quoted;
    if (!is_quoted && (c == '{' || c == '[' || c == '(')) ++depth;
    if (!is_quoted && (c == '}' || c == ']' || c == ')')) --depth;
    if (!is_quoted && depth == 0 && c == ',') {
      arguments.emplace_back();
    } else if (c != ' ' || !arguments.back().empty()) {
      arguments.back() += c;
    }
  }
  return arguments;
}

/// Decimal or hexadecimal; 0 for NULL, and for what is no number.
std::uint64_t number_of(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, is_hexadecimal ? 16 : 10);
  return value;
}

std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + 4095) / 4096 * 4096;
}

/// Syscalls of which the result is a number of bytes, and which argument is the size, from 0; -1 = none.
const std::map<std::string, int, std::less<>>& moving_calls() {
  static const std::map<std::string, int, std::less<>> calls = {{"read", 2},
                                                                {"write", 2},
                                                                {"pread64", 2},
                                                                {"pwrite64", 2},
                                                                {"sendto", 2},
                                                                {"recvfrom", 2},
                                                                {"getrandom", 1},
                                                                {"sendfile", 3},
                                                                {"splice", 4},
                                                                {"copy_file_range", 4},
                                                                {"sendfile64", 3},
                                                                {"tee", 2},
                                                                {"readv", -1},
                                                                {"writev", -1},
                                                                {"preadv", -1},
                                                                {"pwritev", -1},
                                                                {"preadv2", -1},
                                                                {"pwritev2", -1},
                                                                {"sendmsg", -1},
                                                                {"recvmsg", -1},
                                                                {"vmsplice", -1},
                                                                {"process_vm_readv", -1},
                                                                {"process_vm_writev", -1}};
  return calls;
}

}  // namespace

/// The result of the process's last brk before `call`.
std::uint64_t StraceLog::break_before(const Call& call) const {
  std::uint64_t before = 0;
  const std::set<int> threads = threads_of(call.tid);
  for (const Call& other : calls_) {
    if (other.name != "brk" || other.returned == 0 || other.returned >= call.entered) continue;
    if (threads.count(other.tid) != 0) before = number_of(other.result);
  }
  return before;
}

void StraceLog::add_bytes(const Call& call, StraceWindow& window) const {
  if (call.result.starts_with("-1") || call.result.starts_with("?")) return;
  const std::uint64_t result = number_of(call.result);
  const std::string_view text = std::string_view(call.text).substr(0, call.text.rfind(')'));
  const std::vector<std::string> arguments = arguments_of(text);
  const auto argument = [&](int index) {
    const auto at = static_cast<std::size_t>(index);
    return at < arguments.size() ? number_of(arguments[at]) : 0;
  };
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  if (const auto moving = moving_calls().find(call.name); moving != moving_calls().end()) {
    window.bytes[call.name] += result;
    if (moving->second >= 0 && result < argument(moving->second)) ++window.short_calls[call.name];
    return;
  }
  if (call.name == "mmap" || call.name == "mmap2") {
    to = whole_pages(argument(1));
  } else if (call.name == "munmap") {
    from = whole_pages(argument(1));
  } else if (call.name == "mremap") {
    const bool keeps_old = call.text.find("MREMAP_DONTUNMAP") != std::string::npos;
    from = keeps_old ? 0 : whole_pages(argument(1));
    to = whole_pages(argument(2));
  } else if (call.name == "brk") {
    from = whole_pages(break_before(call));
    to = whole_pages(result);
  } else {
    return;
  }
  window.bytes[call.name] += to > from ? to - from : 0;
  window.released[call.name] += from > to ? from - to : 0;
}

}  // namespace conformance
