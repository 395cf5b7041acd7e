// SPDX-License-Identifier: MIT
#include "profilers/bpftrace/bpftrace_command.h"

#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "os/confinement.h"
#include "profilers/bpftrace/bpftrace_diagnosis.h"
#include "profilers/installed_files.h"
#include "profilers/launcher/protocol.h"
#include "profilers/tool_surroundings.h"

namespace syscost::profilers {
namespace {

/// Keys of a map; hist() takes one for each bucket of each key. bpftrace's 4096 would be too few for a scratch map of
/// every thread's call; each map's memory is reserved when it is made, so it must not be many more. Later
/// versions call it by the second name, and say that the first is old.
constexpr std::array<std::string_view, 2> kMapKeysNames{"BPFTRACE_MAP_KEYS_MAX", "BPFTRACE_MAX_MAP_KEYS"};
constexpr std::string_view kMapKeys = "16384";

constexpr std::string_view kHowToGetBpftrace = "install bpftrace 0.17 or later (Debian: apt-get install bpftrace)";

void add_map_keys(std::vector<std::string>& environment) {
  const auto is_set = [&environment](std::string_view name) { return !value_in(environment, name).empty(); };
  if (std::any_of(kMapKeysNames.begin(), kMapKeysNames.end(), is_set)) return;
  for (const std::string_view name : kMapKeysNames)
    environment.push_back(std::string(name) + "=" + std::string(kMapKeys));
}

/// bpftrace reads the kernel's types together with those of modules, for which it needs CAP_SYS_ADMIN. Without it, as
/// for a container's root, it reads none, and scripts that name a type fail. But it reads a file that the variable
/// names.
void add_kernel_types(std::vector<std::string>& environment) {
  constexpr const char* kTypes = "/sys/kernel/btf/vmlinux";
  // bpftrace runs as root, with sudo or without: so the capabilities that root can have here decide.
  if (holds(read_confinement().bounding, CAP_SYS_ADMIN) || access(kTypes, R_OK) != 0) return;
  if (value_in(environment, "BPFTRACE_BTF").empty()) environment.push_back(std::string("BPFTRACE_BTF=") + kTypes);
}

}  // namespace

Result<BpftraceCommand> BpftraceCommand::find(bool asks_for_sudo) {
  BpftraceCommand command;
  Result<std::string> tool = find_tool("bpftrace", kHowToGetBpftrace);
  if (!tool.ok()) return tool.failure();
  command.tool_ = std::move(tool.value());
  if (Result<void> judged = judge_surroundings(read_confinement(), has_tracefs(), asks_for_sudo); !judged.ok()) {
    return judged.failure();
  }
  Result<std::string> launcher = find_launcher();
  if (!launcher.ok()) return launcher.failure();
  command.launcher_ = std::move(launcher.value());
  command.environment_ = tool_environment("BPFTRACE_");
  add_map_keys(command.environment_);
  add_kernel_types(command.environment_);
  if (asks_for_sudo && geteuid() != 0) {
    Result<std::string> sudo = find_tool("sudo", "install sudo, or run as root");
    if (!sudo.ok()) return sudo.failure();
    command.sudo_ = std::move(sudo.value());
  }
  if (Result<void> asked = command.ask_version(); !asked.ok()) return asked.failure();
  return command;
}

Result<void> BpftraceCommand::ask_version() {
  Result<CommandResult> version = run_whole(launcher_, environment_, {tool_, "--version"});
  if (!version.ok()) return version.failure();
  if (const int error = version.value().start_errno; error != 0) {
    Failure failure = errno_failure("execute", tool_, error);
    failure.how_to_fix = kHowToGetBpftrace;
    return failure;
  }
  if (version.value().has_timed_out) {
    return Failure{tool_ + " --version did not answer, so syscost ended it",
                   "use `ps -eo pid,stat,wchan,args` to see what it was waiting for, and `dmesg`"};
  }
  if (Result<void> judged = judge_version(version.value().output, tool_); !judged.ok()) return judged;
  Result<CommandResult> help = run_whole(launcher_, environment_, {tool_, "--help"});
  if (!help.ok()) return help.failure();
  // Both features came within a few versions; 0.17 has neither.
  warns_unasked_ = (help.value().output + help.value().errors).find("--no-warnings") != std::string::npos;
  return {};
}

Command BpftraceCommand::with_gate(const std::vector<std::string>& arguments) const {
  std::vector<std::string> line;
  if (uses_sudo()) {
    line = {sudo_, "-n"};
    // sudo starts it with an environment of its own.
    for (const std::string& entry : environment_) {
      if (entry.starts_with("BPFTRACE_")) line.push_back(entry);
    }
  }
  line.push_back(tool_);
  for (const std::string& flag : flags_of_warnings()) line.push_back(flag);
  line.insert(line.end(), {"-c", std::string(kGatePlaceholder)});
  line.insert(line.end(), arguments.begin(), arguments.end());
  return {kGateKind, std::move(line)};
}

std::vector<std::string> BpftraceCommand::flags_of_warnings() const {
  if (!warns_unasked_) return {"-k"};
  if (is_in_initial_pid_namespace()) return {};
  return {"--no-warnings"};
}

}  // namespace syscost::profilers
