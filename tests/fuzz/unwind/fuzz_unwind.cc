// SPDX-License-Identifier: MIT
#include "fuzz_unwind.h"

#include <alloca.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "extras/where/dispatch/call_stacks.h"
#include "extras/where/stub/unwind.h"
#include "require.h"

namespace syscost::dispatch::fuzz {
namespace {

using syscost::fuzz::require;

using signal_safe::Thread;
using signal_safe::Walk;
using signal_safe::WalkEnd;
using signal_safe::Walker;
using signal_safe::WalkStart;

/// The words of a stack from the innermost frame to the thread's beginning, and the registers there.
struct Recorded {
  std::uint64_t ip = 0;
  std::uint64_t rbp = 0;
  std::uint64_t from = 0;  ///< Where the words stood.
  std::vector<std::uint64_t> words;
};

struct Subjects {
  Thread thread{};
  bool can_unwind = false;
  std::vector<Recorded> recorded;
};
Subjects* g_subjects = nullptr;

/// Records its own stack, as if its next instruction were a `syscall`. AddressSanitizer must not look at these reads:
/// there are its own bytes between the variables.
__attribute__((noinline, no_sanitize("address"))) void record() {
  Recorded one;
  asm volatile("leaq 0f(%%rip), %0\n0:\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
               : "=r"(one.ip), "=r"(one.from), "=r"(one.rbp));
  const auto* word = reinterpret_cast<const std::uint64_t*>(one.from);  // NOLINT(performance-no-int-to-ptr)
  const std::size_t count = (g_subjects->thread.stack_top - one.from) / sizeof *word;
  one.words.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t value = word[i];
    one.words.push_back(value);
  }
  g_subjects->recorded.push_back(std::move(one));
}

__attribute__((noinline)) void recurse(int depth) {
  if (depth > 0) recurse(depth - 1);
  if (depth == 0) record();
  asm volatile("" : : : "memory");
}

__attribute__((noinline)) void realigned(std::size_t bytes) {
  alignas(64) char aligned[64];
  auto* room = static_cast<char*>(alloca(bytes));
  asm volatile("" : : "r"(aligned), "r"(room) : "memory");
  record();
  asm volatile("" : : "r"(aligned), "r"(room) : "memory");
}

int compare(const void* a, const void* b) {
  record();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

Subjects* made_subjects() {
  auto* made = new Subjects;
  // Makes the memory of stacks, which stays. No call gets a stack: nothing counts here.
  made->can_unwind = CallStacks::start(made->thread, StacksOf::each_call).ok();
  if (!made->can_unwind) return made;
  g_subjects = made;
  record();
  recurse(20);
  recurse(200);  // more than a stack holds
  realigned(17);
  realigned(400);
  std::array<int, 3> numbers{5, 3, 8};
  std::qsort(numbers.data(), numbers.size(), sizeof(int), compare);
  return made;
}

Subjects& subjects() {
  static Subjects* const made = made_subjects();
  return *made;
}

/// Takes values off the front of the input; zeros after its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool is_empty() const { return size_ == 0; }
  std::uint64_t take(std::size_t bytes) {
    std::uint64_t value = 0;
    bytes = std::min(bytes, size_);
    std::memcpy(&value, data_, bytes);
    data_ += bytes;
    size_ -= bytes;
    return value;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

/// A copy of the words elsewhere. A word that pointed into the stack points into the copy.
void relocate(const Recorded& recorded, std::vector<std::uint64_t>& copy, WalkStart& start) {
  copy = recorded.words;
  const auto to = reinterpret_cast<std::uint64_t>(copy.data());
  const std::uint64_t bytes = copy.size() * sizeof(std::uint64_t);
  const auto moved = [&](std::uint64_t word) {
    return word - recorded.from <= bytes ? word - recorded.from + to : word;
  };
  for (std::uint64_t& word : copy) word = moved(word);
  start = {recorded.ip, to, moved(recorded.rbp), 0, false};
}

/// Replaces words and registers: by another word of the stack, an address near it, or anything.
bool change(Input& input, std::vector<std::uint64_t>& words, WalkStart& start) {
  bool is_changed = false;
  while (!input.is_empty()) {
    is_changed = true;
    const std::uint64_t where = input.take(2);
    const std::uint64_t how = input.take(1);
    std::uint64_t value = input.take(how % 4 == 0 ? 8 : 2);
    if (how % 4 == 1) value = words[value % words.size()];
    if (how % 4 == 2) value = reinterpret_cast<std::uint64_t>(words.data()) + value;
    if (how % 4 == 3) value = start.ip + value - (1U << 15);
    switch (where) {
      case 0xffff:
        start.ip = value;
        break;
      case 0xfffe:
        start.sp = value;
        break;
      case 0xfffd:
        start.rbp = value;
        break;
      case 0xfffc:
        start.rdi = value;
        start.is_clone = (how & 4) != 0;
        break;
      default:
        words[where % words.size()] = value;
    }
  }
  return is_changed;
}

/// False if the walk read other memory than `words`: the walk itself, or the fuzzer, may change that.
bool check(const Walk& walk, const std::vector<std::uint64_t>& words) {
  require(walk.frames >= 1 && walk.frames <= signal_safe::kMaxFrames, "there is room for the frames");
  require(walk.words <= signal_safe::kMaxWords, "there is room for the words");
  bool is_of_the_stack = true;
  const auto begin = reinterpret_cast<std::uint64_t>(words.data());
  const std::uint64_t last = (words.size() - 1) * sizeof words[0];
  for (std::uint32_t i = 0; i < walk.words; ++i) {
    const std::uint64_t offset = walk.word[i].address - begin;
    if (offset > last) {
      is_of_the_stack = false;
      continue;
    }
    std::uint64_t now = 0;
    std::memcpy(&now, reinterpret_cast<const char*>(words.data()) + offset, sizeof now);
    require(now == walk.word[i].value, "each word stands where it was read");
  }
  return is_of_the_stack;
}

bool is_same(const Walk& a, const Walk& b) {
  return a.frames == b.frames && a.words == b.words && a.end == b.end &&
         std::equal(a.frame, a.frame + a.frames, b.frame);
}

}  // namespace

bool can_unwind() {
  return subjects().can_unwind;
}

void unwind_any_stack(const std::uint8_t* data, std::size_t size) {
  Subjects& all = subjects();
  static auto* const walker = static_cast<Walker*>(signal_safe::take_where_memory(sizeof(Walker)));
  static auto* const before = new Walk;
  Input input(data, size);
  std::vector<std::uint64_t> words;
  WalkStart start{};
  relocate(all.recorded[input.take(1) % all.recorded.size()], words, start);
  all.thread.stack_top = reinterpret_cast<std::uint64_t>(words.data() + words.size());
  const bool is_changed = change(input, words, start);
  const signal_safe::Guard guard = signal_safe::EntryPoint::enter();
  // No page is proven: memory of the last input may be gone.
  std::atomic_ref(syscost_where_state.memory_epoch).fetch_add(1);
  signal_safe::unwind(guard, all.thread, *walker, start);
  const bool is_of_the_stack = check(walker->walk, words);
  if (!is_changed) require(walker->walk.end != WalkEnd::no_information, "an unchanged stack has all of its frames");
  std::memcpy(before, &walker->walk, sizeof *before);
  signal_safe::unwind(guard, all.thread, *walker, start);
  require(!is_of_the_stack || is_same(*before, walker->walk), "the same stack is the same twice");
}

}  // namespace syscost::dispatch::fuzz
