// SPDX-License-Identifier: MIT
#include "faults/state_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace syscost::bench::faults {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kStateVersion = 1;

/// Bytes that are not UTF-8 are replaced: an output may hold any.
std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json json_of(const LearnedTest& test) {
  Json places = Json::array();
  for (const Place& place : test.places) {
    places.push_back({{"syscall", place.syscall},
                      {"classes", place.classes},
                      {"site", place.site},
                      {"nths", place.nths},
                      {"calls", place.calls}});
  }
  return {{"test", test.name},
          {"wall_ns", test.wall_ns},
          {"descriptors_left", test.descriptors_left},
          {"entries", test.entries},
          {"steady", test.is_steady},
          {"places", std::move(places)},
          {"left_out", test.why_left_out}};
}

LearnedTest test_of(const Json& json) {
  LearnedTest test;
  json.at("test").get_to(test.name);
  json.at("wall_ns").get_to(test.wall_ns);
  json.at("descriptors_left").get_to(test.descriptors_left);
  json.at("entries").get_to(test.entries);
  json.at("steady").get_to(test.is_steady);
  json.at("left_out").get_to(test.why_left_out);
  for (const Json& one : json.at("places")) {
    Place place;
    one.at("syscall").get_to(place.syscall);
    one.at("classes").get_to(place.classes);
    one.at("site").get_to(place.site);
    one.at("nths").get_to(place.nths);
    one.at("calls").get_to(place.calls);
    test.places.push_back(std::move(place));
  }
  return test;
}

Json json_of(const PlanSize& plan) {
  return {{"failures", plan.failures},
          {"left_out", plan.left_out},
          {"other_calls", plan.other_calls},
          {"not_in_list", plan.not_in_list}};
}

PlanSize plan_of(const Json& json) {
  PlanSize plan;
  json.at("failures").get_to(plan.failures);
  json.at("left_out").get_to(plan.left_out);
  json.at("other_calls").get_to(plan.other_calls);
  json.at("not_in_list").get_to(plan.not_in_list);
  return plan;
}

Json json_of(std::size_t index, const Done& done) {
  const Failure& failure = done.failure;
  const Result& result = done.result;
  return {{"failure", index},
          {"test", failure.test},
          {"syscall", failure.syscall},
          {"nth", failure.nth},
          {"errno", failure.error},
          {"site", failure.site},
          {"outcome", std::string(word_of(result.outcome))},
          {"detail", result.detail},
          {"hit", result.hit},
          {"wall_ns", result.wall_ns},
          {"processes_left", result.processes_left},
          {"output", result.output}};
}

Done done_of(const Json& json) {
  Done done;
  Failure& failure = done.failure;
  json.at("test").get_to(failure.test);
  json.at("syscall").get_to(failure.syscall);
  json.at("nth").get_to(failure.nth);
  json.at("errno").get_to(failure.error);
  json.at("site").get_to(failure.site);
  Result& result = done.result;
  const auto outcome = outcome_of(json.at("outcome").get<std::string>());
  if (!outcome) throw std::invalid_argument("an outcome that this bench does not know");
  result.outcome = *outcome;
  json.at("detail").get_to(result.detail);
  json.at("hit").get_to(result.hit);
  json.at("wall_ns").get_to(result.wall_ns);
  json.at("processes_left").get_to(result.processes_left);
  json.at("output").get_to(result.output);
  return done;
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
    json.at("command").get_to(state.identity.command);
    json.at("program").get_to(state.identity.program);
    json.at("options").get_to(state.identity.options);
  } else if (json.contains("learned")) {
    state.tests.push_back(test_of(json.at("learned")));
  } else if (json.contains("learned_all")) {
    state.framework = framework_of(json.at("learned_all").get<std::string>());
    state.has_learned = true;
  } else if (json.contains("plan")) {
    state.plan = plan_of(json.at("plan"));
  } else {
    Done done = done_of(json);
    if (done.failure.test >= state.tests.size()) throw std::invalid_argument("its test is missing");
    state.done[json.at("failure").get<std::size_t>()] = std::move(done);
  }
}

std::string read_all(int file, std::string& text) {
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got == 0) return {};
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::strerror(errno);
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
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
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fmt::format("{}: {}", path, std::strerror(errno));
  std::string text;
  std::string fault = read_all(file, text);
  ::close(file);
  std::size_t used = 0;
  if (fault.empty()) fault = read_state(text, state, used);
  if (fault.empty() && used == 0) fault = "it holds no sweep";
  return fault.empty() ? "" : fmt::format("{}: {}", path, fault);
}

StateFile::~StateFile() {
  if (file_ >= 0) ::close(file_);
}

std::string StateFile::open(const std::string& path, SweepState& state) {
  path_ = path;
  constexpr mode_t kOwnerOnly = 0600;
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly);
  if (file_ < 0) return fmt::format("{}: {}", path, std::strerror(errno));
  struct stat kind {};
  if (::fstat(file_, &kind) != 0 || !S_ISREG(kind.st_mode)) return fmt::format("{} is no regular file", path);
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    return fmt::format("{}: {}", path,
                       errno == EWOULDBLOCK ? "another sweep writes to it; wait for its end, or name another file"
                                            : std::strerror(errno));
  }
  std::string text;
  std::string fault = read_all(file_, text);
  std::size_t used = 0;
  if (fault.empty()) fault = read_state(text, state, used);
  if (!fault.empty()) {
    return fmt::format("{}: {}\nIf you do not need the file, remove it; else name another one.", path, fault);
  }
  // What was being written when a sweep was killed.
  if (used < text.size() && ::ftruncate(file_, static_cast<off_t>(used)) != 0) {
    return fmt::format("{}: {}", path, std::strerror(errno));
  }
  return {};
}

std::string StateFile::append(const std::string& line) {
  if (file_ < 0) return {};
  const ssize_t written = ::write(file_, line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return {};
  return fmt::format("{}: {}", path_, written < 0 ? std::strerror(errno) : "the disk is full");
}

std::string StateFile::begin(const SweepIdentity& identity) {
  return append(line_of({{"syscost_faults", kStateVersion},
                         {"command", identity.command},
                         {"program", identity.program},
                         {"options", identity.options}}));
}

std::string StateFile::add(const LearnedTest& test) {
  return append(line_of({{"learned", json_of(test)}}));
}

std::string StateFile::end_learning(Framework framework) {
  return append(line_of({{"learned_all", std::string(word_of(framework))}}));
}

std::string StateFile::add(const PlanSize& plan) {
  return append(line_of({{"plan", json_of(plan)}}));
}

std::string StateFile::add(std::size_t index, const Done& done) {
  return append(line_of(json_of(index, done)));
}

}  // namespace syscost::bench::faults
