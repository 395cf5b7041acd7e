// SPDX-License-Identifier: MIT
#include "case.h"

#include <algorithm>
#include <tuple>

namespace conformance {
namespace {

std::vector<Case>& registry() {
  static std::vector<Case> all;
  return all;
}

std::vector<std::string>& problem_list() {
  static std::vector<std::string> list;
  return list;
}

}  // namespace

Row calls(std::string name, std::uint64_t times) {
  Row row;
  row.name = std::move(name);
  row.entries = times;
  row.calls = times;
  return row;
}

Row any(std::string name, std::string reason) {
  Row row;
  row.name = std::move(name);
  row.entries = row.calls = row.restarts = row.in_flight = row.no_return = row.carried_in = row.denied = std::nullopt;
  row.open_because = std::move(reason);
  return row;
}

std::map<std::string, std::string> and_dispatch(const std::string& reason, std::map<std::string, std::string> others) {
  for (const char* backend : {"dispatch", "dispatch-trap"}) others[backend] = reason;
  return others;
}

std::string strace_name(const std::string& name) {
  return name.substr(name.find(':') + 1);  // npos + 1 = 0: all of it
}

std::string not_linked_test(const Window& window) {
  return window.name.empty() ? "window" : "window_" + window.name;
}

const std::vector<Case>& cases() {
  // Families register in link order; readers want the numbers' order.
  static const bool sorted = [] {
    std::sort(registry().begin(), registry().end(),
              [](const Case& a, const Case& b) { return std::tie(a.number, a.name) < std::tie(b.number, b.name); });
    return true;
  }();
  static_cast<void>(sorted);
  return registry();
}

const Case* find_case(const std::string& name) {
  for (const Case& one : cases()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

Register::Register(Case one) {
  registry().push_back(std::move(one));
}

void problem(const std::string& text) {
  problem_list().push_back(text);
}

const std::vector<std::string>& problems() {
  return problem_list();
}

void require(bool condition, const std::string& text) {
  if (!condition) problem(text);
}

}  // namespace conformance
