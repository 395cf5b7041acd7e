// SPDX-License-Identifier: MIT
#include "model/test_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

/// The tests of one process, in the order of their first starts.
using Order = std::vector<std::string_view>;

std::map<std::string_view, std::vector<Order>> orders_by_program(std::initializer_list<const Dataset*> runs) {
  using Process = std::tuple<const Dataset*, std::uint32_t, std::uint64_t>;  // with its context and its number
  std::map<Process, std::pair<Order, std::set<NameId>>> processes;
  for (const Dataset* const data : runs) {
    for (const Sample& sample : data->samples) {
      if (data->text(sample.kind) != "test" || data->text(sample.origin) != schema::kOriginSyscost) continue;
      auto& [order, seen] = processes[{data, sample.context, sample.pid}];
      if (seen.insert(sample.test).second) order.push_back(data->text(sample.test));
    }
  }
  std::map<std::string_view, std::vector<Order>> by_program;
  for (auto& [process, tests] : processes) {
    const auto& [data, context, number] = process;
    if (tests.first.size() > 1) {
      by_program[data->text(data->contexts[context].program)].push_back(std::move(tests.first));
    }
  }
  return by_program;
}

/// True if two of `orders` have common tests in different orders. Each is held against the longest.
bool differ(const std::vector<Order>& orders) {
  const auto longest = std::max_element(orders.begin(), orders.end(),
                                        [](const Order& a, const Order& b) { return a.size() < b.size(); });
  std::map<std::string_view, std::size_t> places;
  for (const std::string_view test : *longest) places.emplace(test, places.size());
  return std::any_of(orders.begin(), orders.end(), [&](const Order& order) {
    std::size_t next = 0;
    return std::any_of(order.begin(), order.end(), [&](std::string_view test) {
      const auto place = places.find(test);
      if (place == places.end()) return false;
      return place->second < std::exchange(next, std::max(next, place->second));
    });
  });
}

}  // namespace

std::set<std::string, std::less<>> reordered_programs(std::initializer_list<const Dataset*> runs) {
  std::set<std::string, std::less<>> reordered;
  for (const auto& [program, orders] : orders_by_program(runs)) {
    if (differ(orders)) reordered.emplace(program);
  }
  return reordered;
}

}  // namespace syscost::bench::model
