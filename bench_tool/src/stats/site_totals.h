// SPDX-License-Identifier: MIT
//
// How much each site calls: sums over repetitions and windows.
//
// Sums and no medians, because the sites of a syscall then add up to the syscall, also where threads take turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/dataset.h"
#include "model/group.h"
#include "model/site.h"
#include "model/syscall_choice.h"

namespace syscost::bench::stats {

/// One syscall at one site. Sums; nullopt where a row did not measure it.
struct SiteTotal {
  std::string syscall;  ///< `write`, `ioctl TCGETS`
  std::string_view classes;
  bool is_wait = false;
  model::Site site;
  std::optional<std::uint64_t> calls = 0;  ///< Entries, where a row has no calls.
  std::optional<std::uint64_t> errors = 0;
  std::optional<std::uint64_t> kernel_ns = 0;
  std::map<std::string, std::uint64_t, std::less<>> errnos = {};
  std::size_t tests = 0;  ///< How many tests reach it, themselves or in a loop; a set-up counts as one.
};

/// Adds up windows of one Dataset, which must outlive it.
class SiteTotals {
 public:
  explicit SiteTotals(const model::Dataset& data) : data_(data) {}

  /// The syscalls of `choice` in all repetitions of a window.
  void add(const model::Group& group, const model::SyscallChoice& choice);
  /// In no order.
  std::vector<SiteTotal> all() const;

 private:
  const model::Dataset& data_;
  using Names = std::pair<model::NameId, model::NameId>;
  struct Entry {
    SiteTotal total;
    std::set<Names> tests;  ///< Program and test.
  };
  std::map<Names, Entry> entries_;  ///< By syscall and detail.
};

/// Puts `sites` in the order `key`: `kernel`, `calls` or `errors`, the most first, or `name` (of the site).
void sort_sites(std::vector<SiteTotal>& sites, std::string_view key);

}  // namespace syscost::bench::stats
