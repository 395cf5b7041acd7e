// SPDX-License-Identifier: MIT
#include "faults/state_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <concepts>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "os/files.h"

namespace syscost::bench::faults {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kStateVersion = 1;

/// Bytes that are not UTF-8 are replaced: an output may hold any.
std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// How each state file begins, as line_of() has it.
constexpr std::string_view kBegin = R"({"syscost_faults":)";

// ---- the fields of each kind of line: `take(name, field)` writes them, or reads them

template <class Some>
concept SomePlace = std::same_as<std::remove_const_t<Some>, Place>;
template <class Some>
concept SomeTest = std::same_as<std::remove_const_t<Some>, LearnedTest>;
template <class Some>
concept SomePlan = std::same_as<std::remove_const_t<Some>, PlanSize>;
template <class Some>
concept SomeDone = std::same_as<std::remove_const_t<Some>, Done>;
template <class Some>
concept SomeIdentity = std::same_as<std::remove_const_t<Some>, SweepIdentity>;

void each_field(SomePlace auto& place, const auto& take) {
  take("syscall", place.syscall);
  take("classes", place.classes);
  take("site", place.site);
  take("part", place.part);
  take("nths", place.nths);
  take("calls", place.calls);
}

void each_field(SomeTest auto& test, const auto& take) {
  take("test", test.name);
  take("wall_ns", test.wall_ns);
  take("descriptors_left", test.descriptors_left);
  take("entries", test.entries);
  take("child_signals", test.child_signals);
  take("steady", test.is_steady);
  take("places", test.places);
  take("left_out", test.why_left_out);
  take("report_file", test.has_report_file);
}

void each_field(SomePlan auto& plan, const auto& take) {
  take("failures", plan.failures);
  take("left_out", plan.left_out);
  take("other_calls", plan.other_calls);
  take("not_in_list", plan.not_in_list);
}

void each_field(SomeDone auto& done, const auto& take) {
  take("test", done.failure.test);
  take("syscall", done.failure.syscall);
  take("nth", done.failure.nth);
  take("errno", done.failure.error);
  take("site", done.failure.site);
  take("part", done.failure.part);
  take("outcome", done.result.outcome);
  take("detail", done.result.detail);
  take("child", done.result.child);
  take("hit", done.result.hit);
  take("wall_ns", done.result.wall_ns);
  take("processes_left", done.result.processes_left);
  take("output", done.result.output);
}

void each_field(SomeIdentity auto& identity, const auto& take) {
  take("command", identity.command);
  take("program", identity.program);
  take("options", identity.options);
}

// ---- what they must hold: reports print the names, and suggest commands that have them

void check_syscall(std::string_view name) {
  for (const std::string_view abi : {"i386:", "x32:"}) {
    if (name.starts_with(abi)) name.remove_prefix(abi.size());
  }
  if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string_view::npos) {
    throw std::invalid_argument("a syscall with a name that no syscall has");
  }
}

void check(const LearnedTest& test) {
  for (const Place& place : test.places) {
    check_syscall(place.syscall);
    if (place.nths.empty() || place.calls < place.nths.size()) {
      throw std::invalid_argument("a call site without calls");
    }
  }
}

void check(const PlanSize& plan) {
  for (const auto& [syscall, calls] : plan.not_in_list) check_syscall(syscall);
}

void check(const Done& done) {
  check_syscall(done.failure.syscall);
  std::string error = done.failure.error;
  if (error.ends_with(kLasting)) error.pop_back();
  if (const std::string fault = error_fault(error); !fault.empty()) throw std::invalid_argument(fault);
}

void check(const SweepIdentity& /*unused*/) {}

// ---- their values

template <class Value>
void put(const Value& value, Json& json) {
  json = value;
}
void put(const Outcome& outcome, Json& json) {
  json = std::string(word_of(outcome));
}
void put(const Part& part, Json& json) {
  json = std::string(word_of(part));
}
void put(const std::vector<Place>& places, Json& json) {
  json = Json::array();
  for (const Place& place : places) {
    Json& one = json.emplace_back();
    each_field(place, [&](const char* name, const auto& value) { put(value, one[name]); });
  }
}

template <class Value>
void get(const Json& json, Value& value) {
  json.get_to(value);
}
void get(const Json& json, Outcome& outcome) {
  const auto known = outcome_of(json.get<std::string>());
  if (!known) throw std::invalid_argument("an outcome that this bench does not know");
  outcome = *known;
}
void get(const Json& json, Part& part) {
  const auto known = part_of(json.get<std::string>());
  if (!known) throw std::invalid_argument("a part of a test that this bench does not know");
  part = *known;
}

void get(const Json& json, std::vector<Place>& places) {
  for (const Json& one : json) {
    each_field(places.emplace_back(), [&](const char* name, auto& value) { get(one.at(name), value); });
  }
}

/// The fields come after those that `json` has.
Json with_fields(Json json, const auto& from) {
  each_field(from, [&](const char* name, const auto& value) { put(value, json[name]); });
  return json;
}

template <class Line>
Line fields_in(const Json& json) {
  Line line;
  each_field(line, [&](const char* name, auto& value) { get(json.at(name), value); });
  check(line);
  return line;
}

Framework framework_of(const std::string& word) {
  for (const Framework one : {Framework::googletest, Framework::catch2, Framework::doctest}) {
    if (word == word_of(one)) return one;
  }
  throw std::invalid_argument("a framework that this bench does not know");
}

void take_line(const Json& json, bool is_first, SweepState& state) {
  if (is_first != json.contains("syscost_faults")) throw std::invalid_argument("the first line of a sweep is missing");
  if (is_first) {
    if (json.at("syscost_faults") != kStateVersion) throw std::invalid_argument("it is of another version of bench");
    state.identity = fields_in<SweepIdentity>(json);
  } else if (json.contains("learned")) {
    state.tests.push_back(fields_in<LearnedTest>(json.at("learned")));
  } else if (json.contains("learned_all")) {
    state.framework = framework_of(json.at("learned_all").get<std::string>());
    state.has_learned = true;
  } else if (json.contains("plan")) {
    state.plan = fields_in<PlanSize>(json.at("plan"));
  } else if (json.contains("harm")) {
    const auto lines = json.at("harm").get<std::vector<std::string>>();
    state.harm.insert(state.harm.end(), lines.begin(), lines.end());
  } else if (json.contains("changed_always")) {
    const auto lines = json.at("changed_always").get<std::vector<std::string>>();
    state.changed_always.insert(state.changed_always.end(), lines.begin(), lines.end());
  } else {
    auto done = fields_in<Done>(json);
    if (done.failure.test >= state.tests.size()) throw std::invalid_argument("its test is missing");
    state.done[json.at("failure").get<std::size_t>()] = std::move(done);
  }
}

/// A sweep of a million failures has some hundred megabytes.
constexpr std::size_t kMostOfState = std::size_t{1} << 30;

std::string read_all(const Descriptor& file, std::string& text) {
  struct stat status {};
  const bool is_too_large =
      ::fstat(file.number(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) > kMostOfState;
  if (is_too_large) return std::strerror(EFBIG);
  return read_whole(file, kMostOfState, text) ? "" : std::strerror(errno);
}

/// Why this sweep does not go on with a file, or "".
std::string owner_fault(const struct stat& file) {
  if (!S_ISREG(file.st_mode)) return "it is no regular file";
  if (file.st_uid != ::geteuid()) return "it belongs to another user, who may change its results; name another file";
  if ((file.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return "other users may change its results; take their permission (chmod go-w), or name another file";
}

/// False if no sweep has begun to write `text`.
bool is_begun(std::string_view text) {
  return kBegin.starts_with(text.substr(0, kBegin.size()));
}

}  // namespace

std::string read_state(const std::string& text, SweepState& state, std::size_t& used) {
  used = 0;
  std::size_t number = 1;
  for (std::size_t end = 0; (end = text.find('\n', used)) != std::string::npos; used = end + 1, ++number) {
    try {
      take_line(Json::parse(std::string_view(text).substr(used, end - used)), number == 1, state);
    } catch (const std::exception& fault) {
      return fmt::format("line {} is no line of a sweep: {}", number, fault.what());
    }
  }
  return {};
}

std::string load_state(const std::string& path, SweepState& state) {
  const Descriptor file = open_regular(path.c_str());
  if (!file.is_open()) {
    return fmt::format("{}: {}", path, errno == EINVAL ? "it is no regular file" : std::strerror(errno));
  }
  std::string text;
  std::string fault = read_all(file, text);
  std::size_t used = 0;
  if (fault.empty()) fault = read_state(text, state, used);
  if (fault.empty() && used == 0) fault = "it holds no sweep";
  return fault.empty() ? "" : fmt::format("{}: {}", path, fault);
}

StateFile::~StateFile() {
  if (file_ < 0) return;
  struct stat ours {};
  struct stat there {};
  // Another file may have the name by now.
  const bool is_there = ::fstat(file_, &ours) == 0 && ::lstat(path_.c_str(), &there) == 0 &&
                        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
  if (is_made_ && is_there) ::unlink(path_.c_str());
  ::close(file_);
}

std::string StateFile::open(const std::string& path, SweepState& state) {
  path_ = path;
  const auto fault_of = [&](const std::string& fault) { return fmt::format("{}: {}", path, fault); };
  constexpr mode_t kOwnerOnly = 0600;
  constexpr int kFlags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  struct stat kind {};
  // Another sweep that has added nothing may remove its file between the open and the lock.
  constexpr int kTries = 100;  // some file systems count no links
  for (int i = 0; i < kTries && kind.st_nlink == 0; ++i) {
    if (file_ >= 0) ::close(file_);
    file_ = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, kOwnerOnly);
    is_made_ = file_ >= 0;
    const bool was_there = !is_made_ && errno == EEXIST;
    if (was_there) file_ = ::open(path.c_str(), kFlags);
    if (file_ < 0 && was_there && errno == ENOENT) continue;
    if (file_ < 0 || ::fstat(file_, &kind) != 0) return fault_of(std::strerror(errno));
    if (const std::string fault = owner_fault(kind); !fault.empty()) return fault_of(fault);
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      is_made_ = false;
      return fault_of(errno == EWOULDBLOCK ? "another sweep writes to it; wait for its end, or name another file"
                                           : std::strerror(errno));
    }
    if (::fstat(file_, &kind) != 0) return fault_of(std::strerror(errno));
  }
  std::string text;
  Descriptor borrowed(file_);
  std::string fault = read_all(borrowed, text);
  borrowed.release();
  if (fault.empty() && !is_begun(text)) fault = "line 1 is no line of a sweep";
  if (fault.empty()) fault = read_state(text, state, used_);
  has_rest_ = used_ < text.size();
  return fault.empty() ? "" : fault_of(fault + "\nIf you do not need the file, remove it; else name another one.");
}

std::string StateFile::append(const std::string& line) {
  if (file_ < 0) return {};
  if (has_rest_ && ::ftruncate(file_, static_cast<off_t>(used_)) != 0) {
    return fmt::format("{}: {}", path_, std::strerror(errno));
  }
  has_rest_ = is_made_ = false;
  const std::string text = std::exchange(first_, {}) + line;
  const int error = write_whole(file_, text);
  return error == 0 ? "" : fmt::format("{}: {}", path_, std::strerror(error));
}

void StateFile::begin(const SweepIdentity& identity) {
  first_ = line_of(with_fields({{"syscost_faults", kStateVersion}}, identity));
}

std::string StateFile::add(const LearnedTest& test) {
  return append(line_of({{"learned", with_fields(Json::object(), test)}}));
}

std::string StateFile::end_learning(Framework framework) {
  return append(line_of({{"learned_all", std::string(word_of(framework))}}));
}

std::string StateFile::add(const PlanSize& plan) {
  return append(line_of({{"plan", with_fields(Json::object(), plan)}}));
}

std::string StateFile::add(std::size_t index, const Done& done) {
  return append(line_of(with_fields({{"failure", index}}, done)));
}

std::string StateFile::add_harm(const std::vector<std::string>& lines) {
  return append(line_of({{"harm", lines}}));
}

std::string StateFile::add_changed_always(const std::vector<std::string>& lines) {
  return append(line_of({{"changed_always", lines}}));
}

std::vector<FileId> StateFile::ids() const {
  struct stat status {};
  if (file_ < 0 || ::fstat(file_, &status) != 0) return {};
  return {{status.st_dev, status.st_ino}};
}

}  // namespace syscost::bench::faults
