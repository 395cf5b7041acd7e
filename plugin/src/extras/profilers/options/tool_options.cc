// SPDX-License-Identifier: MIT
//
// --syscost_profile, --syscost_bpf and the like: tools that observe windows.
#include "extras/option_parts.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/errors.h"

namespace syscost::session {
namespace {

using Group = OptionGroup;
using Kind = ValueKind;

constexpr std::array kProfileWords = {
    Word{"syscalls", "print a line under each test and for each loop"},
    Word{"bpftrace", "run bpftrace on each test, loop and benchmark"},
    Word{"perf", "run perf on each test, loop and benchmark"},
    Word{"cupti", "kernels and copies of a GPU, in a run of its own without counts and times"},
};
constexpr std::array kScriptWords = {Word{"list", "show all scripts, and run nothing"}};

bool contains(const std::vector<std::string>& parts, std::string_view part) {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

std::string take_profile(Options& options, std::string_view value) {
  const std::vector<std::string> parts = split(value, ',');
  options.profile_syscalls = contains(parts, "syscalls");
  options.profile_bpftrace = contains(parts, "bpftrace");
  options.profile_perf = contains(parts, "perf");
  options.profile_cupti = contains(parts, "cupti");
  return {};
}

std::string take_scripts(Options& options, std::string_view value) {
  options.lists_scripts = value == "list";
  options.scripts.clear();
  if (options.lists_scripts) return {};
  for (std::string& part : split(value, ',')) {
    if (part.empty()) return "the name of a script is missing; --syscost_bpf list shows them";
    if (part == "list") return "\"list\" stands alone: it shows the scripts and runs nothing";
    if (!contains(options.scripts, part)) options.scripts.push_back(std::move(part));
  }
  return {};
}

constexpr std::array kToolEntries = {
    OptionEntry{.group = Group::results,
                .name = "profile",
                .kind = Kind::words,
                .value = "LIST",
                .about = "print or run these, with commas between",
                .target = take_profile,
                .words = kProfileWords,
                .more = "#other-tools-beside-a-test"},
    OptionEntry{.group = Group::tools,
                .name = "bpf",
                .kind = Kind::names,
                .value = "NAME[,NAME]",
                .about = "the bpftrace scripts to run",
                .target = take_scripts,
                .words = kScriptWords,
                .preset = "`syslat`",
                .more = "profiles.md",
                .source = &Options::bpf_source},
    OptionEntry{.group = Group::tools,
                .name = "bpf_path",
                .kind = Kind::folders,
                .value = "DIR[:DIR]",
                .about = "folders with your scripts, searched before syscost's own; each must exist",
                .target = &Options::script_folders,
                .more = "profiles.md#your-own-scripts",
                .source = &Options::bpf_path_source},
    OptionEntry{.group = Group::tools,
                .name = "bpf_sudo",
                .kind = Kind::on_off,
                .about = "start the tool with `sudo -n`; without this flag syscost never calls sudo",
                .target = &Options::bpf_sudo,
                .source = &Options::bpf_sudo_source},
    OptionEntry{.group = Group::variables,
                .name = "cupti",
                .kind = Kind::file,
                .value = "FILE",
                .about = "the `libcupti.so` for `--syscost_profile cupti`, if syscost does not find one itself",
                .target = &Options::cupti_library,
                .more = "profiles.md#cupti"},
};

/// CUPTI runs in a run of its own, without counts.
void settle(Options& options) {
  if (options.profile_cupti && options.backend == BackendChoice::automatic) options.backend = BackendChoice::none;
}

bool is_flag(Source source) {
  return source == Source::command_line;
}

Result<void> check_tools(const Options& all) {
  if (all.profile_cupti) {
    const char* other = all.profile_syscalls                 ? "--syscost_profile syscalls"
                        : all.profile_bpftrace               ? "--syscost_profile bpftrace"
                        : all.profile_perf                   ? "--syscost_profile perf"
                        : all.backend != BackendChoice::none ? "--syscost_backend"
                        : all.children                       ? "--syscost_children"
                                                             : nullptr;
    if (other != nullptr) {
      return Failure{
          "CUPTI runs inside the test's process, so its own syscalls and times would be part of the figures of " +
              std::string(other) + " measures",
          "run the program twice: once with --syscost_profile cupti, once without"};
    }
  }
  if (is_flag(all.bpf_source) && !all.lists_scripts && !all.profile_bpftrace) {
    return Failure{"--syscost_bpf requires --syscost_profile bpftrace",
                   "add --syscost_profile=bpftrace, or leave the scripts out"};
  }
  if (is_flag(all.bpf_path_source) && !all.lists_scripts && !all.profile_bpftrace) {
    return Failure{"--syscost_bpf_path requires --syscost_profile bpftrace",
                   "add --syscost_profile=bpftrace, or leave the folders out"};
  }
  if (is_flag(all.bpf_sudo_source) && !all.wants_tools()) {
    return Failure{"--syscost_bpf_sudo requires --syscost_profile bpftrace or perf",
                   "add --syscost_profile=bpftrace, or leave it out"};
  }
  return {};
}

}  // namespace

constinit const OptionPart kToolOptions = {kToolEntries, check_tools, settle};

}  // namespace syscost::session
