// SPDX-License-Identifier: MIT
#include "model/test_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

/// The tests of one process, in the order of their first starts.
using Order = std::vector<std::string_view>;

std::map<std::string_view, std::vector<Order>> orders_by_program(std::initializer_list<const Dataset*> runs) {
  struct Process {
    const Dataset* data = nullptr;
    std::uint32_t context = 0;
    Order order;
    std::set<NameId> seen;
  };
  std::map<std::tuple<std::size_t, std::uint32_t, std::uint64_t>, Process> processes;  // in the order of the runs
  std::size_t run = 0;
  for (const Dataset* const data : runs) {
    ++run;
    for (const Sample& sample : data->samples) {
      if (data->text(sample.kind) != "test" || data->text(sample.origin) != schema::kOriginSyscost) continue;
      Process& its = processes[{run, sample.context, sample.pid}];
      its.data = data;
      its.context = sample.context;
      if (its.seen.insert(sample.test).second) its.order.push_back(data->text(sample.test));
    }
  }
  std::map<std::string_view, std::vector<Order>> by_program;
  for (auto& [key, its] : processes) {
    if (its.order.size() < 2) continue;
    by_program[its.data->text(its.data->contexts[its.context].program)].push_back(std::move(its.order));
  }
  return by_program;
}

Order common(const Order& order, const Order& other) {
  const std::set<std::string_view> known(other.begin(), other.end());
  Order out;
  std::copy_if(order.begin(), order.end(), std::back_inserter(out), [&](auto test) { return known.contains(test); });
  return out;
}

/// The common tests before which other ones of them ran.
std::set<std::string_view> differing(const Order& one, const Order& other) {
  const Order a = common(one, other);
  const Order b = common(other, one);
  std::set<std::string_view> reordered;
  std::set<std::string_view> apart;  // those that ran so far in one of the two
  const auto pass = [&](std::string_view test) {
    if (apart.erase(test) == 0) apart.insert(test);
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!apart.empty() || a[i] != b[i]) {
      reordered.insert(a[i]);
      reordered.insert(b[i]);
    }
    pass(a[i]);
    pass(b[i]);
  }
  return reordered;
}

}  // namespace

ProgramTests reordered_tests(std::initializer_list<const Dataset*> runs) {
  ProgramTests reordered;
  for (const auto& [program, orders] : orders_by_program(runs)) {
    std::map<std::string_view, const Order*> first_with;  // a test -> the order that others are held against
    for (const Order& order : orders) {
      const auto shared =
          std::find_if(order.begin(), order.end(), [&](std::string_view test) { return first_with.contains(test); });
      if (shared != order.end()) {
        for (const std::string_view test : differing(*first_with[*shared], order)) reordered.emplace(program, test);
      }
      for (const std::string_view test : order) first_with.emplace(test, &order);
    }
  }
  return reordered;
}

}  // namespace syscost::bench::model
