// SPDX-License-Identifier: MIT
#include "session/options/option_values.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstddef>
#include <memory>
#include <utility>

namespace syscost::session {
namespace {

std::string one_of(std::string_view value, std::string_view choices) {
  return "\"" + std::string(value) + "\" is not one of " + std::string(choices);
}

/// The parts of `text` between the marks; an empty one stays an empty part.
std::vector<std::string> split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(mark);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool contains(const std::vector<std::string>& parts, std::string_view part) {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

bool is_one_of(std::string_view value, std::span<const Word> words) {
  return std::any_of(words.begin(), words.end(), [&](const Word& word) {
    const std::size_t colon = word.text.find(':');
    return colon == std::string_view::npos ? value == word.text : value.starts_with(word.text.substr(0, colon + 1));
  });
}

/// No value for what is not a number of the option's range.
std::optional<std::uint64_t> number_of(const OptionEntry& option, std::string_view value) {
  int number = 0;
  const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || rest != value.data() + value.size() || number < option.least) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

/// The error sentence of a value that its kind forbids, or "".
std::string fault_of(const OptionEntry& option, std::string_view value) {
  switch (option.kind) {
    case ValueKind::on_off:
      if (value != "1" && value != "true" && value != "0" && value != "false")
        return one_of(value, "1, 0, true, false");
      break;
    case ValueKind::text:
      if (value.empty()) return "the value is empty";
      break;
    case ValueKind::file:
      if (value.empty()) return "a file name is missing";
      break;
    case ValueKind::folder:
    case ValueKind::folders:
      if (contains(split(value, ':'), "")) return "the name of a folder is missing";
      break;
    case ValueKind::number:
      if (!number_of(option, value).has_value()) {
        return "\"" + std::string(value) + "\" is not a whole number from " + std::to_string(option.least) + " to " +
               std::to_string(INT_MAX);
      }
      break;
    case ValueKind::word:
      if (!is_one_of(value, option.words)) return one_of(value, list_of_words(option.words));
      break;
    case ValueKind::words:
      for (const std::string& part : split(value, ',')) {
        if (is_one_of(part, option.words)) continue;
        return one_of(part, list_of_words(option.words) + ", or several of them with commas between");
      }
      break;
    case ValueKind::names:
    case ValueKind::selector:
      break;
  }
  return {};
}

/// Puts a value without a fault where it belongs.
struct Put {
  const OptionEntry& option;
  Options& options;
  std::string_view value;

  std::string operator()(bool Options::*member) const {
    options.*member = value == "1" || value == "true";
    return {};
  }
  std::string operator()(std::string Options::*member) const {
    options.*member = value;
    return {};
  }
  std::string operator()(std::vector<std::string> Options::*member) const {
    options.*member = split(value, ':');
    return {};
  }
  std::string operator()(std::optional<std::uint64_t> Options::*member) const {
    options.*member = number_of(option, value);
    return {};
  }
  std::string operator()(Take take) const { return take(options, value); }
};

}  // namespace

std::string take_value(const OptionEntry& option, Options& options, std::string_view value, Source source) {
  if (option.source != nullptr) options.*option.source = source;
  std::string fault = fault_of(option, value);
  return fault.empty() ? std::visit(Put{option, options, value}, option.target) : fault;
}

std::string take_profile(Options& options, std::string_view value) {
  const std::vector<std::string> parts = split(value, ',');
  options.profile_syscalls = contains(parts, "syscalls");
  options.profile_bpftrace = contains(parts, "bpftrace");
  options.profile_perf = contains(parts, "perf");
  options.profile_cupti = contains(parts, "cupti");
  return {};
}

std::string take_backend(Options& options, std::string_view value) {
  static_assert(kBackendWords.size() == static_cast<std::size_t>(BackendChoice::none) + 1);
  const auto* const word = std::find_if(kBackendWords.begin(), kBackendWords.end(),
                                        [&](const Word& candidate) { return candidate.text == value; });
  options.is_backend_named = true;
  options.backend = static_cast<BackendChoice>(word - kBackendWords.begin());
  return {};
}

std::string take_filter(Options& options, std::string_view value) {
  Result<std::shared_ptr<const Filter>> filter = Filter::parse(value);
  if (!filter.ok()) return filter.failure().reason + " " + filter.failure().how_to_fix;
  options.filter = std::move(filter.value());
  return {};
}

std::string take_detail(Options& options, std::string_view value) {
  constexpr std::string_view kThread = "thread:";
  options.details = {};
  for (const std::string& part : split(value, ',')) {
    if (part == "ioctl") {
      options.details.ioctls = true;
    } else if (part.size() == kThread.size() || part.size() > kThread.size() + kMaxThreadName) {
      return "\"" + part + "\" does not name threads: after the colon, write 1 to " + std::to_string(kMaxThreadName) +
             " letters, the beginning of their name (prctl(PR_SET_NAME))";
    } else if (options.details.driver_threads.size() == kMaxDriverThreads) {
      return "more than " + std::to_string(kMaxDriverThreads) + " names of threads";
    } else {
      options.details.driver_threads.push_back(part.substr(kThread.size()));
    }
  }
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

std::string take_unavailable(Options& options, std::string_view value) {
  options.on_unavailable = value == "skip" ? Options::OnUnavailable::skip : Options::OnUnavailable::fail;
  return {};
}

}  // namespace syscost::session
