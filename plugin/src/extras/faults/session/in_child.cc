// SPDX-License-Identifier: MIT
//
// Bodies of for_each_failure: each runs in a fork child of its own, in which calls can fail. Its effects on the process
// end with the child. The child's heap is compared before and after it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "extras/faults/core/fault_rule.h"
#include "extras/faults/session/faults.h"
#include "os/proc.h"
#include "os/program_files.h"
#include "session/process/contained_child.h"
#include "session/windows/backend_holder.h"
#include "syscost/adapter.h"
#include "syscost/failures.h"

namespace syscost {

// How much memory of the heap the program holds, exactly: a body of for_each_failure that loses 4 bytes is found.
//
// glibc's malloc keeps some freed blocks of each small size for their thread (the tcache), and its figures count them
// as in use. So a block that is lost there, or freed to there, changes no figure. Therefore the caches are filled
// before each look: then they are the same part of each figure.

namespace {

/// Not the compiler's to leave out.
void* take(std::size_t bytes) {
  void* taken = std::malloc(bytes);  // NOLINT(cppcoreguidelines-no-malloc): the program's allocator
  __asm__ volatile("" : "+r"(taken) : : "memory");
  return taken;
}

void give_back(void* taken) {
  std::free(taken);  // NOLINT(cppcoreguidelines-no-malloc): see above
}

/// The bytes that are in use, as glibc's malloc says; empty if it does not say.
std::optional<std::uint64_t> bytes_in_use() {
  // As <malloc.h> has it from glibc 2.33 on.
  struct HeapInfo {
    std::size_t arena, free_chunks, small_chunks, mappings, mapped, unused, small_free, in_use, free, top;
  };
  static auto* const ask = reinterpret_cast<HeapInfo (*)()>(loaded_function("mallinfo2"));
  if (ask == nullptr) return std::nullopt;
  const HeapInfo now = ask();
  return now.in_use + now.mapped;
}

/// False with another allocator, such as a sanitizer's: glibc's figure does not change then.
bool is_heap_of_glibc() {
  constexpr std::size_t kInNoCache = 100'000;  // and below what glibc maps for itself
  const std::optional<std::uint64_t> before = bytes_in_use();
  if (!before.has_value()) return false;
  void* const taken = take(kInNoCache);
  const bool has_grown = bytes_in_use() >= *before + kInNoCache;
  give_back(taken);
  return has_grown;
}

/// The calling thread's cache has as many blocks of each size as it takes.
void fill_caches() {
  constexpr std::size_t kSmallest = 24;
  constexpr std::size_t kLargest = 1032;
  constexpr std::size_t kStep = 16;
  constexpr std::size_t kOfEachSize = 32;  // glibc 2.42 keeps 16, older ones 7
  std::array<void*, kOfEachSize> taken{};
  for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes += kStep) {
    for (void*& one : taken) one = take(bytes);
    for (void* const one : taken) give_back(one);
  }
}

}  // namespace

std::uint64_t failure_detail::heap_bytes() {
  // The framework keeps what it knows of an assertion that failed: that is no leak of the body.
  if (adapter::test_has_failed().value_or(false) || !is_heap_of_glibc()) return 0;
  fill_caches();
  return bytes_in_use().value_or(0);
}

}  // namespace syscost

namespace syscost::session {
namespace {

/// A child's answer is one of these, and a text.
constexpr char kSaid = '=';
constexpr char kCannot = '!';

}  // namespace

failure_detail::ChildRun Faults::run_in_child(const std::function<std::string()>& body,
                                              std::chrono::nanoseconds limit) {
  const auto refuse = [](std::string why) {
    failure_detail::ChildRun run;
    run.why_none = std::move(why);
    return run;
  };
  OpenBackend* const opened = shared_.backend.current();
  FaultInjector* const injector = opened != nullptr ? opened->backend->extension<FaultInjector>() : nullptr;
  if (shared_.is_fork_child()) return refuse("this is a fork child");
  if (injector == nullptr) return refuse("the backend makes no calls");
  if (!injector->begins_in_fork_children()) {
    return refuse("backend " + std::string(opened->backend->name()) + " makes no calls in a fork child");
  }
  if (!adapter::test_has_failed().has_value()) {
    return refuse("this test framework does not say whether an assertion failed in a child");
  }
  // The body has met it in the run that learned its calls, and would not meet it in a child.
  if (open_.size() > of_test_.size()) return refuse("a Fault or a Forbid is open, and ends in a fork child");
  const OwnCalls own(opened);
  const Result<std::vector<int>> threads = own_threads();
  if (!threads.ok()) return refuse(threads.failure().reason);
  // ThreadSanitizer's runtime has one of its own, and makes it anew in the child.
  const std::size_t allowed = loaded_function("__tsan_init") != nullptr ? 2 : 1;
  if (threads.value().size() > allowed) {
    return refuse("other threads run, and a fork child would have none of them");
  }
  const auto in_child = [&]() -> std::string {
    shared_.child_with_faults.emplace();
    if (const Result<void> begun = injector->begin_in_fork_child(); !begun.ok()) {
      return kCannot + begun.failure().reason;
    }
    try {
      return kSaid + body();
    } catch (...) {
      return std::string(1, kCannot) + "prepare, promise or invariant ended by an exception";
    }
  };
  ContainedRun run = run_contained(in_child, limit);
  if (!run.has_said) return run;
  if (run.said.front() == kCannot) return refuse(run.said.substr(1));
  run.said.erase(0, 1);
  return run;
}

}  // namespace syscost::session
