// SPDX-License-Identifier: MIT
#include "findings/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "findings/thresholds.h"
#include "findings/window_calls.h"
#include "render/numbers.h"

namespace syscost::bench::findings {
namespace {

using render::count;

constexpr std::array<std::string_view, 2> kMaps = {"mmap", "munmap"};
constexpr std::array<std::string_view, 1> kBrk = {"brk"};
constexpr std::array<std::string_view, 3> kForks = {"fork", "vfork", "clone"};

/// The heap grows and shrinks by turns.
std::vector<Hit> heap_churn(const WindowCalls& window) {
  const CallSum heap = window.sum(kBrk);
  if (heap.calls < kManyMappings || !heap.bytes || !heap.bytes_released) return {};
  if (*heap.bytes_released == 0 || *heap.bytes_released < kReleasedShare * *heap.bytes) return {};
  return {{"brk", window.site_of(kBrk),
           fmt::format("{} brk{} take {} bytes and give {} of them back", count(heap.calls), window.per(),
                       count(*heap.bytes), count(*heap.bytes_released)),
           heap.kernel_ns.value_or(0), true}};
}

/// Memory of one thread that it maps for itself: which mappings could have used what it had just given back?
struct Churn {
  std::int64_t given_back = 0;  ///< Bytes of the mapping that it unmapped last, as a whole; 0: used again.
  std::vector<const TracedCall*> maps;
  double ns = 0;
  double bytes = 0;
};

bool maps_memory(const TracedWindow& window, const TracedCall& call) {
  const std::string_view flags = window.argument(call, "flags");
  return has_flag(flags, "MAP_ANONYMOUS") && !has_flag(flags, "MAP_STACK") && !has_flag(flags, "MAP_NORESERVE") &&
         !has_flag(flags, "MAP_FIXED") && !has_flag(flags, "MAP_FIXED_NOREPLACE") &&
         window.argument(call, "prot") != "PROT_NONE";
}

/// True if the program takes its memory from the kernel itself, and not by malloc: it may have reasons.
bool is_by_hand(const TracedWindow& window, const std::vector<const TracedCall*>& calls) {
  const auto by_hand = std::count_if(calls.begin(), calls.end(), [&](const TracedCall* call) {
    const std::string_view function = window.system_function(*call);
    return function.find("mmap") != std::string_view::npos || function.ends_with("brk");
  });
  return 2 * static_cast<std::size_t>(by_hand) > calls.size();
}

/// mprotect of a part of a mapping, as a program does that has an allocator of its own: this is no churn of malloc's.
void forget_protected(const TracedWindow& window, const TracedCall& call,
                      std::map<std::int64_t, const TracedCall*>& mapped, std::map<std::uint32_t, Churn>& threads) {
  const std::int64_t address = window.number(call, "start").value_or(0);
  auto found = mapped.upper_bound(address);
  if (found == mapped.begin()) return;
  --found;
  const TracedCall* map = found->second;
  const std::int64_t length = window.number(*map, "len").value_or(0);
  if (address - found->first >= length) return;
  mapped.erase(found);
  Churn& owner = threads[map->call->thread];
  if (owner.maps.empty() || owner.maps.back() != map) return;
  owner.maps.pop_back();
  owner.ns -= map->took_ns();
  owner.bytes -= static_cast<double>(length);
}

}  // namespace

std::vector<Hit> allocator_churn(const WindowCalls& window) {
  std::vector<Hit> hits = heap_churn(window);
  const CallSum maps = window.sum({"mmap"});
  const CallSum unmaps = window.sum({"munmap"});
  // A file that is mapped was opened; a thread has a mapping for its stack.
  const double others = window.sum(kOpens).succeeded() + window.sum({"clone", "clone3"}).calls;
  const double pairs = std::min(maps.succeeded(), unmaps.succeeded()) - others;
  if (pairs < kManyMappings || !maps.bytes || !unmaps.bytes_released) return hits;
  if (*unmaps.bytes_released < kReleasedShare * *maps.bytes) return hits;
  hits.push_back({"mmap", window.site_of(kMaps),
                  fmt::format("{} mmap and {} munmap{} take {} bytes and give {} of them back", count(maps.calls),
                              count(unmaps.calls), window.per(), count(*maps.bytes), count(*unmaps.bytes_released)),
                  maps.kernel_ns.value_or(0) + unmaps.kernel_ns.value_or(0), true});
  return hits;
}

std::vector<Hit> allocator_churn_in_order(const TracedWindow& window) {
  std::map<std::int64_t, const TracedCall*> mapped;  // by address
  std::map<std::uint32_t, Churn> threads;
  std::vector<const TracedCall*> heap;  // calls of brk that undo one that grew
  std::int64_t end_of_heap = 0;
  double heap_ns = 0;  // of these, and of the calls that they undo
  const TracedCall* growth = nullptr;
  for (const TracedCall& call : window.calls()) {
    if (call.failed()) continue;
    if (call.name() == "brk") {
      if (end_of_heap != 0 && call.result > end_of_heap) growth = &call;
      if (end_of_heap != 0 && call.result < end_of_heap && growth != nullptr) {
        heap.push_back(&call);
        heap_ns += call.took_ns() + std::exchange(growth, nullptr)->took_ns();
      }
      end_of_heap = call.result;
    }
    Churn& thread = threads[call.call->thread];
    if (call.name() == "mmap" && maps_memory(window, call)) {
      mapped[call.result] = &call;
      const std::int64_t length = window.number(call, "len").value_or(0);
      const std::int64_t given_back = std::exchange(thread.given_back, 0);
      if (length > 0 && length <= given_back && length <= kMostForHeap) {
        thread.maps.push_back(&call);
        thread.ns += call.took_ns();
        thread.bytes += static_cast<double>(length);
      }
    } else if (call.name() == "mprotect") {
      forget_protected(window, call, mapped, threads);
    } else if (call.name() == "munmap") {
      const auto found = mapped.find(window.number(call, "addr").value_or(0));
      if (found == mapped.end()) continue;
      const std::int64_t length = window.number(*found->second, "len").value_or(0);
      mapped.erase(found);
      if (window.number(call, "len") != length) continue;
      thread.given_back = length;
      thread.ns += call.took_ns();
    }
  }
  std::vector<Hit> hits;
  std::vector<const TracedCall*> maps;
  double ns = 0;
  double bytes = 0;
  for (const auto& [id, thread] : threads) {
    maps.insert(maps.end(), thread.maps.begin(), thread.maps.end());
    ns += thread.ns;
    bytes += thread.bytes;
  }
  if (static_cast<double>(maps.size()) >= kManyMappings) {
    hits.push_back(
        {"mmap", site_of(maps),
         fmt::format("{} times memory is unmapped, and the next mapping could have used it, {} bytes each on "
                     "average",
                     maps.size(), count(bytes / static_cast<double>(maps.size()))),
         ns, is_by_hand(window, maps)});
  }
  if (static_cast<double>(heap.size()) >= kManyMappings / 2) {
    hits.push_back({"brk", site_of(heap), fmt::format("the heap grows and shrinks again {} times", heap.size()),
                    heap_ns, is_by_hand(window, heap)});
  }
  return hits;
}

std::vector<Hit> fork_without_exec(const TestWindows& test) {
  // A child that runs another program has an execve that succeeds, and one end; a child that is killed has no end.
  double ends = 0;
  double execs = 0;
  for (const WindowCalls* child : test.children) {
    ends += child->sum({"exit_group"}).calls;
    execs += child->sum({"execve", "execveat"}).succeeded();
  }
  const double copies = ends - execs;
  if (copies < kManyForks) return {};
  const CallSum forks = test.own->sum(kForks);
  return {{std::string(forks.most), test.own->site_of(kForks),
           fmt::format("{} children end without an exec: fork copied the page tables for each of them", count(copies)),
           forks.kernel_ns.value_or(0), true}};
}

}  // namespace syscost::bench::findings
