// SPDX-License-Identifier: MIT
#include "core/site_names.h"

#include <deque>
#include <functional>
#include <map>
#include <memory_resource>
#include <mutex>

#include "os/memory.h"

namespace syscost {
namespace {

struct SiteTexts {
  std::mutex mutex;
  std::pmr::deque<std::pmr::string> texts{&quiet_memory()};  // a deque: texts never move
  std::pmr::map<std::string_view, std::uint32_t> numbers{&quiet_memory()};
};

/// Never destroyed: rows are written while the process ends.
SiteTexts& site_texts() {
  static auto* const made = std::pmr::polymorphic_allocator<SiteTexts>(&quiet_memory()).new_object<SiteTexts>();
  return *made;
}

}  // namespace

std::uint32_t number_of_site(std::string_view text) {
  if (text.empty()) return 0;
  SiteTexts& sites = site_texts();
  const std::lock_guard guard(sites.mutex);
  if (const auto known = sites.numbers.find(text); known != sites.numbers.end()) return known->second;
  const std::pmr::string& kept = sites.texts.emplace_back(text);
  const auto number = static_cast<std::uint32_t>(sites.texts.size());
  sites.numbers.emplace(kept, number);
  return number;
}

std::string_view text_of_site(std::uint32_t site) {
  SiteTexts& sites = site_texts();
  const std::lock_guard guard(sites.mutex);
  return site == 0 || site > sites.texts.size() ? std::string_view() : std::string_view(sites.texts[site - 1]);
}

}  // namespace syscost
