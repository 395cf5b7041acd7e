// SPDX-License-Identifier: MIT
//
// syscost-profile-launcher: runs bpftrace or perf beside a measured process, and ends them when it ends.
//
// Its work must not happen in the measured process: starting children that the test's wait() could see, reading their
// pipes, waiting for them, cleaning up after a crash. libsyscost.so starts it (launcher_link.h); people do not.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "extras/profilers/launcher/launcher.h"
#include "extras/profilers/launcher/protocol.h"
#include "extras/profilers/launcher/tool.h"

namespace syscost::profilers {
namespace {

// bpftrace starts this program when all its probes are attached, and detaches them when it ends.
int be_the_gate() {
  prctl(PR_SET_NAME, "syscost-gate");  // the launcher has another name
  if (write(STDIN_FILENO, &kReadyByte, 1) != 1) return 1;
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
  }
  return 0;
}

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<Tool::Kind> parse_kind(std::string_view word) {
  if (word == kGateKind) return Tool::Kind::gate;
  if (word == kControlKind) return Tool::Kind::control;
  if (word == kWholeKind) return Tool::Kind::whole;
  if (word == kFilterKind) return Tool::Kind::filter;
  return std::nullopt;
}

std::optional<std::vector<Tool>> parse_tools(const std::vector<std::string>& words) {
  std::vector<Tool> tools;
  for (std::size_t at = 0; at < words.size();) {
    const std::optional<Tool::Kind> kind = parse_kind(words[at]);
    const std::optional<int> count = at + 1 < words.size() ? parse_number(words[at + 1]) : std::nullopt;
    const std::size_t first = at + 2;
    if (!kind || !count || *count < 1 || words.size() - first < static_cast<std::size_t>(*count)) return std::nullopt;
    const std::size_t past = first + static_cast<std::size_t>(*count);
    tools.emplace_back(*kind, std::vector<std::string>(words.begin() + static_cast<std::ptrdiff_t>(first),
                                                       words.begin() + static_cast<std::ptrdiff_t>(past)));
    at = past;
  }
  return tools;
}

// A test may have lowered them for itself.
void raise_limits() {
  for (const auto which : {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU, RLIMIT_NPROC,
                           RLIMIT_MEMLOCK, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE}) {
    rlimit limit{};
    if (getrlimit(which, &limit) != 0) continue;
    // bpftrace takes long to close descriptors that could be open; a thousand are enough.
    limit.rlim_cur = which == RLIMIT_NOFILE && limit.rlim_max > 4096 ? 4096 : limit.rlim_max;
    setrlimit(which, &limit);
  }
  const rlimit none{};
  setrlimit(RLIMIT_CORE, &none);
}

int watch_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return signalfd(-1, &set, SFD_CLOEXEC);
}

int usage() {
  std::fputs("syscost-profile-launcher: part of syscost, started by the library it is installed with\n", stderr);
  return 2;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && arguments[0] == kGateArgument) return be_the_gate();
  if (arguments.size() < 3) return usage();
  const std::optional<int> start_ms = parse_number(arguments[0]);
  const std::optional<int> stop_ms = parse_number(arguments[1]);
  std::optional<std::vector<Tool>> tools = parse_tools({arguments.begin() + 2, arguments.end()});
  if (!start_ms || !stop_ms || !tools) return usage();
  // The owner may have given copies of its end of the link to children of its own: its death is seen by the pidfd.
  for (const int fd : {kLinkDescriptor, kOwnerDescriptor}) {
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return usage();
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  umask(022);
  raise_limits();
  signal(SIGPIPE, SIG_IGN);
  Launcher(kLinkDescriptor, kOwnerDescriptor, watch_signals(), std::move(*tools),
           {std::chrono::milliseconds(*start_ms), std::chrono::milliseconds(*stop_ms)})
      .run();
  return 0;
}

}  // namespace
}  // namespace syscost::profilers

int main(int count, char** arguments) {
  return syscost::profilers::run({arguments + 1, arguments + count});
}
