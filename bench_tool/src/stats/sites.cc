// SPDX-License-Identifier: MIT
#include "stats/sites.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "model/row_parser.h"

namespace syscost::bench::stats {
namespace {

using model::Measured;
using model::SyscallRow;

void add_measured(std::optional<std::uint64_t>& sum, const Measured& number) {
  std::uint64_t total = 0;
  const bool fits = sum && number.has_value() && !__builtin_add_overflow(*sum, *number, &total);
  sum = fits ? std::optional(total) : std::nullopt;
}

}  // namespace

void SiteTotals::add(const model::Group& group, const model::SyscallChoice& choice) {
  std::vector<SyscallRow> rows;
  const model::RowStore& store = data_.rows_by_site();
  for (const std::uint32_t sample : group.samples) {
    rows.clear();
    store.of(sample, rows);
    for (const SyscallRow& row : rows) {
      const std::string& detail = data_.text(row.detail);
      const bool has_site = model::is_site(detail);
      const std::string& name = data_.text(row.syscall);
      const std::string& classes = data_.text(row.classes);
      if (!choice.matches(name, has_site ? std::string() : detail, classes)) continue;
      const auto [found, is_new] = entries_.try_emplace({row.syscall, row.detail});
      SiteTotal& total = found->second.total;
      if (is_new) {
        total.syscall = has_site || detail.empty() ? name : name + " " + detail;
        total.classes = classes;
        total.is_wait = model::has_class(classes, "wait");
        total.site = model::parse_site(detail);
      }
      if (found->second.tests.emplace(group.program, group.test).second) ++total.tests;
      add_measured(total.calls, row.calls.has_value() ? row.calls : row.entries);
      add_measured(total.errors, row.errors);
      add_measured(total.kernel_ns, row.latency_sum_ns);
      if (!total.errors) total.errnos.clear();  // the others alone are no sum
      if (!total.errors) continue;
      if (row.errnos == model::kNoName) continue;
      if (const auto errnos = model::parse_errnos(data_.text(row.errnos))) {
        for (const auto& [errno_name, count] : *errnos) total.errnos[std::string(errno_name)] += count;
      }
    }
  }
}

std::vector<SiteTotal> SiteTotals::all() const {
  std::vector<SiteTotal> all;
  all.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) all.push_back(entry.total);
  return all;
}

void sort_sites(std::vector<SiteTotal>& sites, std::string_view key) {
  using Number = std::optional<std::uint64_t>;
  const auto place = [](const SiteTotal& one) {
    return std::tuple(std::string_view(one.site.file), one.site.line, std::string_view(one.site.module),
                      one.site.offset, std::string_view(one.site.function), std::string_view(one.syscall));
  };
  const auto number = [&](const SiteTotal& one) {
    const auto& first = key == "calls" ? one.calls : key == "errors" ? one.errors : one.kernel_ns;
    return std::tuple<Number, Number>(first, one.calls);
  };
  std::stable_sort(sites.begin(), sites.end(), [&](const SiteTotal& a, const SiteTotal& b) {
    if (key != "name" && number(a) != number(b)) return number(a) > number(b);
    return place(a) < place(b);
  });
}

namespace {

using model::Site;
using List = std::vector<const SiteCount*>;

constexpr Spread kNoSpread{1, 0, 0, 0};

bool is_apart(const Spread& a, const Spread& b, double rounding) {
  // Figures of an iteration are quotients.
  const double allowed = rounding + 1e-9 * std::max(a.max, b.max);
  return a.min - b.max > allowed || b.min - a.max > allowed;
}

/// A function, or what is nearest to it: where it stands, and its name.
struct FunctionKey {
  int kind = 0;       ///< 0: with lines, 1: of a module, 2: addresses of a module, 3: unknown.
  std::string place;  ///< The file, the module, or why it is unknown.
  std::string function;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 within a defaulted <=> for ours
  friend auto operator<=>(const FunctionKey&, const FunctionKey&) = default;
};

FunctionKey key_of(const Site& site) {
  if (site.has_line()) return {0, site.file, site.function};
  if (site.is_unknown()) return {3, site.unknown, ""};
  return {site.offset ? 2 : 1, site.module, site.function};
}

/// The sites of one function, in the order of their lines.
struct Function {
  List old_sites;
  List new_sites;
};

std::uint64_t position_of(const Site& site) {
  return site.has_line() ? site.line : site.offset.value_or(0);
}

void sort_by_position(List& sites) {
  std::stable_sort(sites.begin(), sites.end(),
                   [](const SiteCount* a, const SiteCount* b) { return position_of(a->site) < position_of(b->site); });
}

/// True for the same line of a function, wherever the function stands.
bool is_same_line(const Site& a, const Site& b) {
  if (a.line_in_function && b.line_in_function) return *a.line_in_function == *b.line_in_function;
  return position_of(a) == position_of(b);
}

double total(const List& sites) {
  double sum = 0;
  for (const SiteCount* one : sites) sum += one->count.median;
  return sum;
}

class Alignment {
 public:
  Alignment(double rounding, std::vector<SiteChange>& out) : rounding_(rounding), out_(out) {}

  void gone(const SiteCount& one) { add_change(one.site, SiteChange::Kind::gone, one.count, kNoSpread); }
  void is_new(const SiteCount& one) { add_change(one.site, SiteChange::Kind::is_new, kNoSpread, one.count); }

  /// Matches the lines of a function, so that as few as possible have changed.
  void function(const List& old_sites, const List& new_sites) {
    // A function of so many lines is generated; its lines are matched by their places alone.
    constexpr std::size_t kMostPairs = 250'000;
    const std::size_t columns = new_sites.size() + 1;
    if (old_sites.size() * new_sites.size() > kMostPairs) return by_line(old_sites, new_sites);
    // cost[i][j]: of the first i lines of OLD and the first j of NEW.
    std::vector<Cost> cost((old_sites.size() + 1) * columns);
    for (std::size_t i = 0; i <= old_sites.size(); ++i) {
      for (std::size_t j = 0; j <= new_sites.size(); ++j) {
        if (i + j == 0) continue;
        Cost& best = cost[i * columns + j];
        best = kNever;
        if (i > 0) best = std::min(best, joined(cost[(i - 1) * columns + j], unpaired(*old_sites[i - 1])));
        if (j > 0) best = std::min(best, joined(cost[i * columns + j - 1], unpaired(*new_sites[j - 1])));
        if (i == 0 || j == 0) continue;
        best = std::min(best, joined(cost[(i - 1) * columns + j - 1], paired(*old_sites[i - 1], *new_sites[j - 1])));
      }
    }
    for (std::size_t i = old_sites.size(), j = new_sites.size(); i + j > 0;) {
      const Cost& best = cost[i * columns + j];
      if (i > 0 && j > 0 &&
          best == joined(cost[(i - 1) * columns + j - 1], paired(*old_sites[i - 1], *new_sites[j - 1]))) {
        pair(*old_sites[--i], *new_sites[--j]);
      } else if (i > 0 && best == joined(cost[(i - 1) * columns + j], unpaired(*old_sites[i - 1]))) {
        gone(*old_sites[--i]);
      } else {
        is_new(*new_sites[--j]);
      }
    }
  }

  /// True if both make the same calls, line by line.
  bool is_same(const List& old_sites, const List& new_sites) const {
    return std::equal(old_sites.begin(), old_sites.end(), new_sites.begin(), new_sites.end(),
                      [&](const SiteCount* a, const SiteCount* b) { return !is_apart(a->count, b->count, rounding_); });
  }

 private:
  /// Lines that changed, by how many calls, and lines that moved.
  using Cost = std::tuple<std::uint64_t, double, std::uint64_t>;
  static constexpr Cost kNever{std::uint64_t{1} << 40U, 0, 0};

  static Cost joined(const Cost& a, const Cost& b) {
    return {std::get<0>(a) + std::get<0>(b), std::get<1>(a) + std::get<1>(b), std::get<2>(a) + std::get<2>(b)};
  }

  Cost unpaired(const SiteCount& one) const {
    return is_apart(one.count, kNoSpread, rounding_) ? Cost{1, one.count.median, 0} : Cost{0, 0, 0};
  }

  /// It is not known if two different lines with different counts are the same.
  Cost paired(const SiteCount& a, const SiteCount& b) const {
    const bool is_moved = !is_same_line(a.site, b.site);
    if (!is_apart(a.count, b.count, rounding_)) return {0, 0, is_moved ? 1 : 0};
    return is_moved ? kNever : Cost{1, std::abs(a.count.median - b.count.median), 0};
  }

  void by_line(const List& old_sites, const List& new_sites) {
    std::map<std::uint64_t, const SiteCount*> left;
    const auto line = [](const Site& site) { return site.line_in_function.value_or(position_of(site)); };
    for (const SiteCount* one : old_sites) {
      if (!left.emplace(line(one->site), one).second) gone(*one);
    }
    for (const SiteCount* one : new_sites) {
      const auto found = left.find(line(one->site));
      if (found == left.end()) {
        is_new(*one);
        continue;
      }
      pair(*found->second, *one);
      left.erase(found);
    }
    for (const auto& [at, one] : left) gone(*one);
  }

  void pair(const SiteCount& a, const SiteCount& b) { add_change(b.site, SiteChange::Kind::changed, a.count, b.count); }

  void add_change(const Site& site, SiteChange::Kind kind, const Spread& before, const Spread& now) {
    if (is_apart(before, now, rounding_)) out_.push_back({site, kind, before, now});
  }

  double rounding_;
  std::vector<SiteChange>& out_;
};

using Functions = std::map<FunctionKey, Function>;

bool is_only_old(const Function& one) {
  return !one.old_sites.empty() && one.new_sites.empty();
}

bool is_only_new(const Function& one) {
  return one.old_sites.empty() && !one.new_sites.empty();
}

/// Takes out functions that only have a new name or stand in another file.
void drop_renamed(const Alignment& alignment, Functions& functions) {
  const auto drop = [&](auto is_alike) {
    for (auto& [old_key, old_function] : functions) {
      if (!is_only_old(old_function)) continue;
      for (auto& [new_key, new_function] : functions) {
        if (!is_only_new(new_function) || !is_alike(old_key, new_key)) continue;
        if (!alignment.is_same(old_function.old_sites, new_function.new_sites)) continue;
        old_function.old_sites.clear();
        new_function.new_sites.clear();
        break;
      }
    }
  };
  drop([](const FunctionKey& a, const FunctionKey& b) { return !a.function.empty() && a.function == b.function; });
  drop([](const FunctionKey& a, const FunctionKey& b) { return a.kind == b.kind && a.place == b.place; });
}

/// Takes out functions with lines on one side alone, because the other build has no line information, if they make as
/// many calls as before.
void drop_without_lines(Functions& functions, double rounding) {
  for (auto& [key, plain] : functions) {
    if (key.kind != 1) continue;
    const bool is_old = is_only_old(plain);
    if (!is_old && !is_only_new(plain)) continue;
    List& mine = is_old ? plain.old_sites : plain.new_sites;
    std::vector<List*> others;
    double sum = 0;
    for (auto& [other_key, other] : functions) {
      if (other_key.kind != 0 || other_key.function != key.function) continue;
      if (!(is_old ? is_only_new(other) : is_only_old(other))) continue;
      others.push_back(is_old ? &other.new_sites : &other.old_sites);
      sum += total(*others.back());
    }
    if (others.empty() || std::abs(sum - total(mine)) > rounding + 1e-9 * sum) continue;
    mine.clear();
    for (List* one : others) one->clear();
  }
}

void sort_changes(std::vector<SiteChange>& changes) {
  const auto key = [](const SiteChange& one) {
    return std::tuple(-std::abs(one.more()), one.kind == SiteChange::Kind::gone, std::string_view(one.site.file),
                      position_of(one.site), std::string_view(one.site.module), std::string_view(one.site.function));
  };
  std::stable_sort(changes.begin(), changes.end(),
                   [&](const SiteChange& a, const SiteChange& b) { return key(a) < key(b); });
}

}  // namespace

std::vector<SiteChange> align_sites(const std::vector<SiteCount>& old_sites, const std::vector<SiteCount>& new_sites,
                                    double rounding) {
  Functions functions;
  for (const SiteCount& one : old_sites) functions[key_of(one.site)].old_sites.push_back(&one);
  for (const SiteCount& one : new_sites) functions[key_of(one.site)].new_sites.push_back(&one);
  for (auto& [key, function] : functions) {
    sort_by_position(function.old_sites);
    sort_by_position(function.new_sites);
  }
  std::vector<SiteChange> changes;
  Alignment alignment(rounding, changes);
  drop_renamed(alignment, functions);
  drop_without_lines(functions, rounding);
  for (const auto& [key, function] : functions) alignment.function(function.old_sites, function.new_sites);
  sort_changes(changes);
  return changes;
}

std::vector<SiteChange> sites_in_new(const std::vector<SiteCount>& new_sites) {
  std::vector<SiteChange> changes;
  for (const SiteCount& one : new_sites) {
    if (one.count.max > 0) changes.push_back({one.site, SiteChange::Kind::in_new, kNoSpread, one.count});
  }
  sort_changes(changes);
  return changes;
}

}  // namespace syscost::bench::stats
