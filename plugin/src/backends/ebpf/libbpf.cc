// SPDX-License-Identifier: MIT
#include "backends/ebpf/libbpf.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <vector>

namespace syscost::ebpf {
namespace {

LibbpfApi g_api;

Result<const LibbpfApi*> find_functions() {
  void* library = dlopen("libbpf.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Failure{std::string("libbpf.so.1 cannot be loaded: ") + dlerror(),
                   "install libbpf 1.x (Debian, Ubuntu: apt-get install libbpf1; Fedora: dnf install libbpf)"};
  }
#define SYSCOST_LIBBPF_FIND(name)                                                        \
  g_api.name = reinterpret_cast<decltype(g_api.name)>(dlsym(library, #name));            \
  if (g_api.name == nullptr) {                                                           \
    return Failure{"libbpf.so.1 has no function " #name, "install libbpf 1.0 or newer"}; \
  }
  SYSCOST_LIBBPF_FUNCTIONS(SYSCOST_LIBBPF_FIND)
#undef SYSCOST_LIBBPF_FIND
  return &g_api;
}

}  // namespace

Result<const LibbpfApi*> open_libbpf() {
  static const Result<const LibbpfApi*> opened = find_functions();
  return opened;
}

const LibbpfApi& libbpf() {
  return g_api;
}

namespace {

thread_local LibbpfLog* t_log = nullptr;

/// How many characters of a verifier's line are kept. Newer kernels add the state of the registers to an instruction,
/// and that can be long.
constexpr std::size_t kMaxLine = 110;
/// The instruction and what is wrong with it.
constexpr std::size_t kLastLines = 2;

std::string_view trimmed(std::string_view line) {
  const std::size_t end = line.find_last_not_of(" \n");
  return end == std::string_view::npos ? std::string_view{} : line.substr(0, end + 1);
}

/// The lines of a verifier's log, without its statistics.
std::vector<std::string_view> lines_of(std::string_view log) {
  std::vector<std::string_view> lines;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = trimmed(log.substr(0, end));
    if (!line.empty() && !line.starts_with("processed ") && !line.starts_with("verification time ") &&
        !line.starts_with("stack depth ")) {
      lines.push_back(line);
    }
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return lines;
}

std::string quoted(std::string_view line) {
  // The registers' state follows the instruction after a wide gap.
  line = trimmed(line.substr(0, line.find("    ;")));
  std::string text(line.substr(0, kMaxLine));
  if (line.size() > kMaxLine) text += "...";
  return "\"" + text + "\"";
}

/// The last lines, after the line of source they belong to where the log has it.
std::string end_of(std::string_view log) {
  const std::vector<std::string_view> lines = lines_of(log);
  const std::size_t first = lines.size() - std::min(lines.size(), kLastLines);
  std::string text;
  for (std::size_t i = first; i-- > 0;) {
    if (!lines[i].starts_with("; ")) continue;
    text = quoted(lines[i]);
    break;
  }
  for (std::size_t i = first; i < lines.size(); ++i) text.append(text.empty() ? "" : ", ").append(quoted(lines[i]));
  return text;
}

/// The text between `before` and `after`, or nothing.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) return {};
  begin += before.size();
  const std::size_t end = text.find(after, begin);
  return end == std::string_view::npos ? std::string_view{} : text.substr(begin, end - begin);
}

}  // namespace

void LibbpfWords::hear(std::string_view message) {
  const std::string_view log = between(message, "-- BEGIN PROG LOAD LOG --\n", "-- END PROG LOAD LOG --");
  if (!log.empty()) {
    refused_program = between(message, "prog '", "'");
    verifiers_reason = end_of(log);
    return;
  }
  last_line = trimmed(message);
}

LibbpfLog::LibbpfLog() : previous_(libbpf().libbpf_set_print(print)) {
  t_log = this;
}

LibbpfLog::~LibbpfLog() {
  t_log = nullptr;
  libbpf().libbpf_set_print(previous_);
}

int LibbpfLog::print(libbpf_print_level level, const char* format, std::va_list arguments) {
  if (level == LIBBPF_DEBUG || t_log == nullptr) return 0;
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  // A verifier's log can have megabytes, and the reason is at its end.
  std::string message(static_cast<std::size_t>(std::max(length, 0)) + 1, '\0');
  std::vsnprintf(message.data(), message.size(), format, again);
  va_end(again);
  message.pop_back();
  t_log->words_.hear(message);
  return 0;
}

}  // namespace syscost::ebpf
