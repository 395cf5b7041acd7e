// SPDX-License-Identifier: MIT
#include "extras/faults/options/fault_rules.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "arguments/arguments.h"
#include "core/selector.h"
#include "core/syscall_table.h"
#include "os/errors.h"
#include "os/files.h"
#include "os/memory.h"
#include "os/text.h"

namespace syscost::session {
namespace {

Failure bad(std::string_view item, std::string_view why) {
  return {"\"" + std::string(item) + "\" " + std::string(why),
          "write for example write:ENOSPC:3, or write:error=ENOSPC:when=3+; docs/faults.md has all words"};
}

template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Where `mark` stands outside of a regular expression, from `from` on; else the end.
std::size_t find_mark(std::string_view text, char mark, std::size_t from) {
  bool is_in_regex = false;
  for (std::size_t at = from; at < text.size(); ++at) {
    const bool may_begin = at == from || text[at - 1] == ',' || text[at - 1] == '!' || text[at - 1] == ';';
    if (text[at] == '/' && (is_in_regex ? text[at - 1] != '\\' : may_begin)) is_in_regex = !is_in_regex;
    if (text[at] == mark && !is_in_regex) return at;
  }
  return text.size();
}

/// By name or number.
std::optional<int> errno_in(std::string_view text) {
  const std::optional<int> number = number_in<int>(text);
  if (!number.has_value()) return errno_number(text);
  return *number >= 1 && *number <= FaultRule::kMostErrno ? number : std::nullopt;
}

/// A value that a call may return.
std::optional<std::int64_t> value_in(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (is_hexadecimal && text.substr(2).starts_with('-')) return std::nullopt;
  const auto value = is_hexadecimal ? number_in<std::int64_t>(text.substr(2), 16) : number_in<std::int64_t>(text);
  return value.value_or(0) >= -FaultRule::kMostErrno ? value : std::nullopt;
}

/// From 0 to 1.
std::optional<double> chance_in(std::string_view text) {
  const std::optional<double> chance = number_of_text(text);
  return chance.has_value() && *chance >= 0 && *chance <= 1 ? chance : std::nullopt;
}

/// "/" in any spelling: all files.
bool is_root(std::string_view path) {
  return std::filesystem::path(path).lexically_normal() == "/";
}

/// Microseconds, or with a unit.
std::optional<std::uint64_t> ns_in(std::string_view text) {
  constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
      {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
  std::uint64_t unit = 1'000;
  for (const auto& [name, ns] : kUnits) {
    if (!text.ends_with(name)) continue;
    unit = ns;
    text.remove_suffix(name.size());
    break;
  }
  const std::optional<std::uint64_t> number = number_in<std::uint64_t>(text);
  if (!number.has_value() || *number > FaultRule::kMostDelayNs / unit) return std::nullopt;
  return *number * unit;
}

constexpr std::pair<std::string_view, unsigned> kKinds[] = {{"file", S_IFREG}, {"folder", S_IFDIR},
                                                            {"pipe", S_IFIFO}, {"socket", S_IFSOCK},
                                                            {"char", S_IFCHR}, {"block", S_IFBLK}};

/// FIRST[..LAST][+[STEP]]
bool read_when(std::string_view text, FaultRule& rule) {
  const std::size_t plus = std::min(text.find('+'), text.size());
  const std::string_view range = text.substr(0, plus);
  const std::size_t dots = std::min(range.find(".."), range.size());
  const auto first = number_in<std::uint64_t>(range.substr(0, dots));
  if (!first.has_value() || *first == 0) return false;
  rule.first = rule.last = *first;
  rule.step = 1;
  if (dots < range.size()) {
    const auto last = number_in<std::uint64_t>(range.substr(dots + 2));
    if (!last.has_value() || *last < *first) return false;
    rule.last = *last;
  } else if (plus < text.size()) {
    rule.last = FaultRule::kEver;
  }
  if (plus + 1 < text.size()) {
    const auto step = number_in<std::uint64_t>(text.substr(plus + 1));
    if (!step.has_value() || *step == 0) return false;
    rule.step = *step;
  }
  return true;
}

/// Reads one word; what is wrong with it, or "".
std::string read_word(std::string_view word, FaultRule& rule) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    if (const std::optional<int> error = errno_number(word)) {
      rule.result = -std::int64_t{*error};
      return {};
    }
    rule.is_per_thread = true;
    return read_when(word, rule) ? "" : "is neither an errno, nor which calls fail: 3, 2+, 1..4";
  }
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  if (name == "error") {
    const std::optional<int> error = errno_in(value);
    if (!error.has_value()) return "names no errno";
    rule.result = -std::int64_t{*error};
  } else if (name == "retval") {
    rule.result = value_in(value);
    if (!rule.result.has_value()) return "is no whole number from -4095 on";
  } else if (name == "when" || name == "nth") {
    if (!read_when(value, rule)) return "is not FIRST, FIRST+, FIRST+STEP, FIRST..LAST or FIRST..LAST+STEP";
    rule.is_per_thread = name == "when";
  } else if (name == "delay_enter" || name == "delay_exit") {
    const std::optional<std::uint64_t> ns = ns_in(value);
    if (!ns.has_value()) return "is no time up to an hour: 500 (microseconds), 5ms, 1s";
    (name == "delay_enter" ? rule.delay_enter_ns : rule.delay_exit_ns) = *ns;
  } else if (name == "shorten") {
    rule.most_bytes = number_in<std::uint64_t>(value);
    if (rule.most_bytes.value_or(0) == 0) return "is no number of bytes from 1 on";
  } else if (name == "after") {
    rule.after_bytes = number_in<std::uint64_t>(value);
    if (!rule.after_bytes.has_value()) return "is no number of bytes";
  } else if (name == "chance") {
    const std::optional<double> chance = chance_in(value);
    if (!chance.has_value()) return "is not from 0 to 1";
    rule.probability = *chance;
  } else if (name == "seed") {
    const auto seed = number_in<std::uint64_t>(value);
    if (!seed.has_value()) return "is no whole number";
    rule.seed = *seed;
  } else if (name == "fd") {
    rule.descriptor = number_in<int>(value);
    if (rule.descriptor.value_or(-1) < 0) return "is no descriptor";
  } else if (name == "path" || name == "below") {
    if (value.empty()) return "names no path";
    if (is_root(value)) return "names all files: leave it out, or name a file or a folder below /";
    rule.path = value;
    rule.is_path_below = name == "below";
  } else if (name == "kind") {
    const auto* const kind =
        std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& one) { return one.first == value; });
    if (kind == std::end(kKinds)) return "is none of file, folder, pipe, socket, char and block";
    rule.kinds = 1U << (kind->second >> 12);
  } else if (name == "signal" || name == "syscall" || name.starts_with("poke_")) {
    return "is a word of strace that syscost does not have";
  } else {
    return "is no word of it";
  }
  return {};
}

/// The subject of a word; two with the same subject contradict each other.
std::string_view subject_of(std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  if (equals == std::string_view::npos) return errno_number(word).has_value() ? "error" : "when";
  if (name == "retval") return "error";
  if (name == "nth") return "when";
  if (name == "below") return "path";
  return name;
}

bool has_file_argument(std::uint32_t number) {
  const auto arguments = syscall_arguments({Abi::x86_64, number});
  return std::any_of(arguments.begin(), arguments.end(), [](const SyscallArgument& one) {
    return one.kind == ArgumentKind::descriptor || one.kind == ArgumentKind::directory ||
           one.kind == ArgumentKind::path;
  });
}

/// Why no call of any program would be hit; "" if one may be.
std::string why_no_hit(const InjectRequest& request) {
  FaultRule rule = request.rule;
  if (const Result<void> found = find_numbers(request.selector, rule, false); !found.ok()) {
    return found.failure().reason;
  }
  if (!rule.has_file()) return {};
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    if (rule.numbers.test(number) && has_file_argument(number)) return {};
  }
  return "no call that is selected has a file";
}

Result<InjectRequest> parse_one(std::string_view item) {
  const std::size_t colon = find_mark(item, ':', 0);
  InjectRequest request;
  request.text = item;
  request.selector = item.substr(0, colon);
  request.rule.is_process_wide = true;
  if (const std::string fault = fault_of_forbidden(request.selector); !fault.empty()) return bad(item, ": " + fault);
  std::vector<std::string_view> subjects;
  for (std::size_t at = colon; at < item.size();) {
    const std::size_t end = std::min(item.find(':', at + 1), item.size());
    const std::string_view word = item.substr(at + 1, end - at - 1);
    if (const std::string fault = read_word(word, request.rule); !fault.empty()) return bad(word, fault);
    const std::string_view subject = subject_of(word);
    if (std::find(subjects.begin(), subjects.end(), subject) != subjects.end()) {
      return bad(item, "has two words for " + std::string(subject) + ", and only one can be true");
    }
    subjects.push_back(subject);
    at = end;
  }
  const FaultRule& rule = request.rule;
  if (!rule.result.has_value() && !rule.most_bytes.has_value() && rule.delay_enter_ns + rule.delay_exit_ns == 0) {
    return bad(item, "does not say what happens to the calls");
  }
  if (const std::string why = why_no_hit(request); !why.empty()) return bad(item, "hits no call: " + why);
  if (counts_calls(rule)) request.faults = names_of(request.selector, rule, false).size();
  return request;
}

}  // namespace

Result<std::vector<InjectRequest>> parse_inject(std::string_view text) {
  constexpr std::size_t kMostFaults = 127;  // a backend has places for 128, and one may be that of --syscost_forbid
  std::vector<InjectRequest> requests;
  std::size_t faults = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = find_mark(text, ';', at);
    Result<InjectRequest> one = parse_one(text.substr(at, end - at));
    if (!one.ok()) return one.failure();
    faults += one.value().faults;
    if (faults > kMostFaults) {
      return Failure{"\"" + std::string(text) + "\" needs " + std::to_string(faults) + " faults, and " +
                         std::to_string(kMostFaults) +
                         " can be open: where calls have numbers, each syscall needs a fault of its own",
                     "select fewer syscalls, or give no number"};
    }
    requests.push_back(std::move(one.value()));
    at = end + 1;
  }
  return requests;
}

std::string fault_of_forbidden(std::string_view selector) {
  const Result<Selector> wanted = Selector::parse(selector);
  if (!wanted.ok()) return wanted.failure().reason + " " + wanted.failure().how_to_fix;
  const FaultNumbers found = fault_numbers(selector, wanted.value());
  if (!found.refused.empty()) return found.refused + " cannot fail: no program could go on";
  return found.numbers.any() ? "" : "no syscall of 64-bit programs is selected";
}

namespace {

/// True if the rule can ever hit a call of this number.
bool can_hit(const FaultRule& rule, std::uint32_t number) {
  return (!rule.most_bytes.has_value() || can_be_shortened(number)) &&
         (!rule.after_bytes.has_value() || moves_bytes(number));
}

/// Fails if the rule could hit no call, whatever the program does.
Result<void> check_bytes(const FaultRule& rule) {
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    if (rule.numbers.test(number) && can_hit(rule, number)) return {};
  }
  if (rule.after_bytes.has_value()) {
    return Failure{"the fault begins after some bytes, and no call that is selected reads or writes any",
                   "select read or write, too"};
  }
  return Failure{"no call that is selected can be shortened",
                 "select read, write or another call that docs/faults.md lists"};
}

}  // namespace

std::string quoted_selector(std::string_view selector) {
  return "\"" + std::string(selector) + "\"";
}

bool fails(const FaultRule& rule) {
  return rule.result.has_value() && *rule.result < 0;
}

bool counts_calls(const FaultRule& rule) {
  return rule.first != 1 || rule.last != FaultRule::kEver || rule.step != 1;
}

Result<void> check(const FaultRule& rule) {
  if (rule.result.has_value() && *rule.result < -FaultRule::kMostErrno) {
    return Failure{std::to_string(*rule.result) + " is no result of a call: an error is from -1 to -4095",
                   "give -ENOSPC, for example"};
  }
  if (std::max(rule.delay_enter_ns, rule.delay_exit_ns) > FaultRule::kMostDelayNs) {
    return Failure{"the delay of a fault is negative, or longer than an hour", "give one from 0 to an hour"};
  }
  if (rule.first == 0 || rule.step == 0) {
    return Failure{"calls are numbered from 1 on, and a fault begins at the call with number 0 or has a step of 0",
                   "write nth(1) for the first call, every(1) for each"};
  }
  if (rule.last < rule.first) return Failure{"the last call of the fault is before its first", "exchange them"};
  if (!(rule.probability >= 0 && rule.probability <= 1)) {
    return Failure{"a probability is from 0 to 1", "write 0.25 for a quarter"};
  }
  if (rule.most_bytes == std::uint64_t{0}) {
    return Failure{"a call cannot be shortened to 0 bytes: the program would take it for the end of a file",
                   "give 1 or more, or let the call fail"};
  }
  return {};
}

Result<void> find_path(FaultRule& rule) {
  if (rule.path.empty()) return {};
  const auto without_slash = [](std::string text) {
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
  };
  const std::filesystem::path absolute = std::filesystem::path(absolute_path(rule.path)).lexically_normal();
  const std::string named = without_slash(absolute.string());
  const std::string real = without_links(absolute.string());
  if (real.empty() || named.empty() || named == "/") {
    return Failure{"\"" + rule.path + "\" is no path of a fault", "name a file, or a folder below /"};
  }
  rule.path = named;
  rule.real_path = without_slash(real);
  return {};
}

Failure has_unreached_threads(std::string_view backend, std::size_t threads) {
  return {"backend " + std::string(backend) + " does not see the calls of " + std::to_string(threads) +
              (threads == 1 ? " thread" : " threads") +
              ", which began while it was off, so nothing can be promised of all threads (Reach::process)",
          "start them when the tests have begun; or set SYSCOST_BACKEND=seccomp, which sees them; or use Reach::thread "
          "(docs/faults.md)"};
}

Result<void> find_numbers(std::string_view selector, FaultRule& rule, bool is_brk_refused) {
  const Result<Selector> wanted = Selector::parse(selector, &quiet_memory());
  if (!wanted.ok()) return wanted.failure();
  const FaultNumbers found = fault_numbers(selector, wanted.value(), is_brk_refused && fails(rule));
  if (!found.refused.empty()) {
    return Failure{
        quoted_selector(selector) + " names " + found.refused + ", which cannot fail: no program could go on",
        "leave it out"};
  }
  if (found.numbers.none()) {
    return Failure{quoted_selector(selector) + " selects no syscall of 64-bit programs",
                   "calls by int $0x80 and those of x32 cannot fail"};
  }
  rule.numbers = found.numbers;
  return check_bytes(rule);
}

std::vector<std::string> names_of(std::string_view selector, const FaultRule& rule, bool is_brk_refused) {
  std::vector<std::string> names;
  const Result<Selector> wanted = Selector::parse(selector, &quiet_memory());
  if (!wanted.ok()) return names;
  const FaultNumbers found = fault_numbers(selector, wanted.value(), is_brk_refused);
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    if (found.numbers.test(number) && can_hit(rule, number)) names.push_back(syscall_name({Abi::x86_64, number}));
  }
  return names;
}

}  // namespace syscost::session
