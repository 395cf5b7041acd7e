// SPDX-License-Identifier: MIT
#include "extras/profilers/bpftrace/bpftrace_diagnosis.h"

#include <linux/capability.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>
#include <vector>

#include "os/errors.h"

namespace syscost::profilers {
namespace {

constexpr std::string_view kInstall = "install bpftrace 0.17 or later (Debian: apt-get install bpftrace)";

/// A container that may not mount gets the host's tracefs.
std::string how_to_get_tracefs(const Confinement& here) {
  constexpr const char* kPath = "/sys/kernel/tracing";
  const bool can_mount = (here.effective >> CAP_SYS_ADMIN & 1) != 0;
  if (here.container != Container::none && !can_mount) return mount_setting(here.container, kPath);
  return std::string("mount it: mount -t tracefs nodev ") + kPath;
}

/// Returns the right that the container denies to bpftrace, although it runs as root; none if it has all.
std::optional<Failure> denied_by_container(const Confinement& here) {
  if (here.container == Container::none) return std::nullopt;
  if (here.in_user_namespace) {
    return Failure{
        "bpftrace needs CAP_BPF and CAP_PERFMON outside of every user namespace, and this container is in one",
        "use a rootful container engine"};
  }
  const std::vector<std::string> missing = missing_for_bpf(here.bounding);
  if (missing.empty()) return std::nullopt;
  std::string names;
  for (const std::string& name : missing) names.append(names.empty() ? "CAP_" : " and CAP_").append(name);
  return Failure{"bpftrace needs CAP_BPF and CAP_PERFMON; this container was not granted " + names,
                 capability_setting(here.container, missing)};
}

std::string indented(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string result;
  int count = 0;
  for (std::string line; std::getline(lines, line) && count < 12; ++count) result += "\n  " + line;
  return result;
}

std::string how_it_ended(const CommandResult& result) {
  if (result.start_errno != 0) return "could not be executed: " + std::string(strerror(result.start_errno));
  if (WIFSIGNALED(result.wait_status)) {
    return "was killed by signal " + std::to_string(WTERMSIG(result.wait_status));
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(result.wait_status));
}

}  // namespace

Result<void> judge_version(std::string_view printed, const std::string& path) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(std::string(printed).c_str(), "bpftrace v%d.%d", &major, &minor) != 2) {
    return Failure{
        path + " --version does not print a version of bpftrace: " + std::string(printed.substr(0, printed.find('\n'))),
        std::string(kInstall)};
  }
  if (major < kLeastMajor || (major == kLeastMajor && minor < kLeastMinor)) {
    return Failure{path + " is version " + std::to_string(major) + "." + std::to_string(minor) +
                       ", and syscost reads the output of 0.17 and newer versions only",
                   std::string(kInstall)};
  }
  return {};
}

Result<void> judge_surroundings(const Confinement& here, bool has_tracefs, bool uses_sudo) {
  if (!here.is_root && !uses_sudo) {
    return Failure{"bpftrace works for root only, and this process is not root",
                   "run as root, or let syscost start bpftrace by sudo: --syscost_bpf_sudo (sudo must not ask for a "
                   "password)"};
  }
  if (std::optional<Failure> denied = denied_by_container(here)) return *std::move(denied);
  if (!has_tracefs) {
    return Failure{"the kernel's tracepoints are missing: no tracefs at /sys/kernel/tracing", how_to_get_tracefs(here)};
  }
  return {};
}

bool is_in_initial_pid_namespace() {
  // PROC_PID_INIT_INO in the kernel's proc_ns.h.
  constexpr std::string_view kInitial = "pid:[4026531836]";
  std::array<char, 64> link{};
  const ssize_t length = readlink("/proc/self/ns/pid", link.data(), link.size());
  return length > 0 && std::string_view(link.data(), static_cast<std::size_t>(length)) == kInitial;
}

Result<void> judge_in_pid_namespace(const std::string& script, std::string_view source) {
  for (const std::string_view field : {"args->next_pid", "args->prev_pid", "args->pid", "args.next_pid", "args.pid"}) {
    if (source.find(field) == std::string_view::npos) continue;
    return Failure{"script " + script + " sees nothing in a PID namespace with this bpftrace: it numbers threads as " +
                       "the namespace does, but the scheduler's events have the numbers outside the namespace",
                   "run in the host's PID namespace (docker run --pid=host), or with bpftrace 0.17"};
  }
  return {};
}

std::string worthwhile_errors(std::string_view errors) {
  std::istringstream lines{std::string(errors)};
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const bool says_nothing = line.find("couldn't set RLIMIT_MEMLOCK") != std::string::npos ||
                              line.find("BPFTRACE_MAP_KEYS_MAX is deprecated") != std::string::npos;
    if (!says_nothing) result += line + "\n";
  }
  return result;
}

Failure explain_failure(const CommandResult& result, const std::string& script, const std::string& script_path,
                        bool uses_sudo) {
  const std::string said = worthwhile_errors(result.errors);
  const auto says = [&said](std::string_view words) { return said.find(words) != std::string::npos; };
  if (result.has_timed_out) {
    return Failure{"bpftrace did not " + std::string(result.was_ready ? "end" : "attach script " + script) +
                       " in time and was not working, so syscost ended it" + indented(said),
                   "use `ps -eo pid,stat,wchan,args` to see what it was waiting for, and `dmesg`; then try again"};
  }
  if (uses_sudo && (says("sudo:") || says("a password is required"))) {
    return Failure{"sudo did not start bpftrace:" + indented(said),
                   "allow it in sudoers: USER ALL=(root) NOPASSWD: SETENV: " + std::string("/usr/bin/bpftrace") +
                       "; or run as root"};
  }
  if (says("only supports running as the root user")) {
    return Failure{"bpftrace works for root only", "run as root, or use --syscost_bpf_sudo"};
  }
  if (says("tracefs") || says("Could not open tracepoint") || says("available_events")) {
    return Failure{"bpftrace does not find the kernel's tracepoints:" + indented(said),
                   how_to_get_tracefs(read_confinement())};
  }
  if (says("tracepoint not found") || says("No probes to attach")) {
    return Failure{"script " + script + " needs something that this kernel does not have:" + indented(said),
                   "use another script, or a kernel that has it (bpftrace -l 'tracepoint:*' lists the tracepoints)"};
  }
  if (says("EPERM") || says("Operation not permitted")) {
    return Failure{"the kernel did not let bpftrace attach script " + script + ":" + indented(said),
                   "it needs CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON; in a container also a seccomp profile that "
                   "allows bpf and perf_event_open"};
  }
  if (result.start_errno == 0 && WIFSIGNALED(result.wait_status)) {
    return Failure{
        "bpftrace with script " + script + " " + how_it_ended(result) + ": its output is lost" + indented(said),
        "run `dmesg` to see whether the kernel killed it, for example for lack of memory; then try again"};
  }
  if (result.ended_early && said.empty()) {
    return Failure{"bpftrace with script " + script + " " + how_it_ended(result) + " before the window was over",
                   "try again; bpftrace -d " + script_path + " 1 1 shows how bpftrace reads the script"};
  }
  return Failure{"bpftrace with script " + script + " " + how_it_ended(result) + ":" + indented(said),
                 "correct " + script_path + "; bpftrace -d " + script_path + " 1 1 shows what is wrong with it"};
}

}  // namespace syscost::profilers
