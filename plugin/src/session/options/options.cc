// SPDX-License-Identifier: MIT
//
// The grammar is `--name value` and `--name=value` with a table of names. We use no command-line library, because it
// would be part of every user's test binary and would take arguments that are not ours.
#include "session/options/options.h"

#include <algorithm>
#include <array>

#include "session/options/option_table.h"
#include "session/options/option_values.h"

namespace syscost::session {
namespace {

/// Variables with our prefix that are not for a test binary: those of the build, those of our test suite, and those
/// that syscost sets for a process that it starts.
constexpr std::array<std::string_view, 3> kForeignPrefixes = {"SYSCOST_BUILD_", "SYSCOST_TEST_", "SYSCOST_INTERNAL_"};
/// Those that find_package(syscost) reads.
constexpr std::array<std::string_view, 2> kForeignNames = {"SYSCOST_ROOT", "SYSCOST_DIR"};

bool is_foreign_variable(std::string_view name) {
  if (name == "SYSCOST_BUILD_TYPE") return false;
  return std::any_of(kForeignPrefixes.begin(), kForeignPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(kForeignNames.begin(), kForeignNames.end(), name) != kForeignNames.end();
}

/// `did you mean PREFIXname? `, or nothing.
std::string suggestion(const std::string& prefix, std::string_view name) {
  return name.empty() ? std::string() : "did you mean " + prefix + std::string(name) + "? ";
}

std::string upper(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

/// "name" of `--syscost_name` or, where allowed, `--name`; null if the argument is not ours. Every argument that
/// begins with --syscost is ours, even `--syscost-csv`: if no code read a flag, a measurement would silently be
/// missing.
std::string_view flag_name(std::string_view argument, Spelling spelling) {
  constexpr std::string_view kPrefix = "--syscost";
  std::string_view name = argument.substr(0, argument.find('='));
  if (name.starts_with("--syscost_")) return name.substr(kPrefix.size() + 1);
  // With the dash it is an unknown name, and the error message suggests the nearest known one.
  if (name.starts_with(kPrefix)) return name.substr(kPrefix.size());
  // --help stays the framework's.
  if (spelling != Spelling::prefixed_short || !name.starts_with("--") || name == "--help") return {};
  name.remove_prefix(2);
  return find_option(name, true) != nullptr ? name : std::string_view();
}

Result<void> read_environment(const std::vector<std::string>& environment, Options& options) {
  constexpr std::string_view kPrefix = "SYSCOST_";
  for (std::string_view entry : environment) {
    std::size_t equals = entry.find('=');
    if (!entry.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    std::string variable(entry.substr(0, equals));
    if (is_foreign_variable(variable)) continue;
    std::string name = lower(entry.substr(kPrefix.size(), equals - kPrefix.size()));
    const OptionEntry* known = upper(name) == variable.substr(kPrefix.size()) ? find_option(name, false) : nullptr;
    if (known == nullptr) {
      return Failure{"the environment holds " + variable + ", which syscost does not know",
                     suggestion("SYSCOST_", upper(nearest_option(name, false))) +
                         "if it is not meant for syscost, unset it: unset " + variable};
    }
    std::string error = take_value(*known, options, entry.substr(equals + 1), Source::environment);
    if (!error.empty()) {
      return Failure{"bad value of the variable " + variable + ": " + error, "correct it, or: unset " + variable};
    }
  }
  return {};
}

/// Checks flags that have no effect without another one. A variable may be set permanently; a flag is for this run, so
/// a flag without effect is a mistake.
Result<void> check_together(const Options& all) {
  if (all.help || all.doctor) return {};
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
  const auto is_flag = [](Source source) { return source == Source::command_line; };
  if (is_flag(all.label_source) && all.csv.empty()) {
    return Failure{"--syscost_label requires --syscost_csv", "add --syscost_csv=FILE, or leave the label out"};
  }
  if (all.children && all.backend == BackendChoice::none) {
    return Failure{"--syscost_children counts child processes, but --syscost_backend none counts nothing",
                   "use --syscost_backend ebpf or --syscost_backend seccomp, or leave --syscost_children out"};
  }
  if (all.children && all.details.any()) {
    return Failure{
        "--syscost_children and --syscost_detail do not work together: no backend has details for the calls of "
        "children",
        "leave one of them out, or make two runs"};
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
  if (is_flag(all.artifacts_source) && !all.wants_tools()) {
    return Failure{"--syscost_artifacts requires --syscost_profile bpftrace, perf or cupti",
                   "add --syscost_profile=bpftrace, or leave the folder out"};
  }
  return {};
}

}  // namespace

Result<ParsedOptions> parse_options(const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& environment, Spelling spelling) {
  ParsedOptions parsed;
  Result<void> read = read_environment(environment, parsed.options);
  if (!read.ok()) return read.failure();

  for (std::size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string_view argument = arguments[i];
    const std::string_view name = flag_name(argument, spelling);
    if (name.data() == nullptr) continue;
    const std::string spelled(argument.substr(0, argument.find('=')));
    const OptionEntry* known = find_option(name, true);
    if (known == nullptr || (spelled.starts_with("--syscost") && !spelled.starts_with("--syscost_"))) {
      return Failure{"syscost has no flag " + spelled,
                     suggestion("--syscost_", nearest_option(name, true)) + "--syscost_help lists all"};
    }

    parsed.used.push_back(i);
    std::string_view value = "1";
    if (std::size_t equals = argument.find('='); equals != std::string_view::npos) {
      value = argument.substr(equals + 1);
    } else if (known->kind != ValueKind::on_off) {
      if (i + 1 == arguments.size() || arguments[i + 1].starts_with("--")) {
        return Failure{spelled + " needs a value", "write " + spelled + "=VALUE; --syscost_help shows examples"};
      }
      value = arguments[++i];
      parsed.used.push_back(i);
    }
    std::string error = take_value(*known, parsed.options, value, Source::command_line);
    if (!error.empty()) return Failure{"bad value of " + spelled + ": " + error, "--syscost_help shows examples"};
  }
  if (parsed.options.profile_cupti && parsed.options.backend == BackendChoice::automatic) {
    parsed.options.backend = BackendChoice::none;
  }
  Result<void> together = check_together(parsed.options);
  if (!together.ok()) return together.failure();
  return parsed;
}

}  // namespace syscost::session
