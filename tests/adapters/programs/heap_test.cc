// SPDX-License-Identifier: MIT
//
// Tests that look at the program's heap: what syscost does between two tests must not depend on its flags.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

namespace {

std::size_t g_allocation_count = 0;

void* allocated(void* memory) {
  ++g_allocation_count;
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

// Those of syscost, too. Not inline: g++ would warn of free() after new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return allocated(std::malloc(bytes));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return allocated(std::aligned_alloc(step, (bytes + step - 1) / step * step));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

namespace {

// Each has a line and a function of its own in the rows, with a long name.
template <std::size_t Number>
void a_function_with_a_name_that_is_longer_than_what_a_short_string_holds() {
  for (std::size_t i = 0; i <= Number; ++i) static_cast<void>(getppid());
}

template <std::size_t... Numbers>
void call_each(std::index_sequence<Numbers...> /*numbers*/) {
  (a_function_with_a_name_that_is_longer_than_what_a_short_string_holds<Numbers>(), ...);
}

constexpr int kTests = 8;
std::array<struct mallinfo2, kTests> g_seen{};
std::array<std::size_t, kTests> g_allocations{};

class Heap : public ::testing::TestWithParam<int> {
 public:
  static void TearDownTestSuite() {
    // The heap that it finds at the begin depends on the environment and on process ids, too.
    for (std::size_t i = 1; i < g_seen.size(); ++i) {
      std::printf("heap of test %zu: %+zd bytes from the kernel, %+zd in use, %+zd free, %zu allocations\n", i,
                  difference(g_seen[i].arena, g_seen[0].arena), difference(g_seen[i].uordblks, g_seen[0].uordblks),
                  difference(g_seen[i].fordblks, g_seen[0].fordblks), g_allocations[i] - g_allocations[0]);
    }
  }

 protected:
  static std::ptrdiff_t difference(std::size_t now, std::size_t before) {
    return static_cast<std::ptrdiff_t>(now) - static_cast<std::ptrdiff_t>(before);
  }
};

TEST_P(Heap, IsTheSame) {
  g_seen[static_cast<std::size_t>(GetParam())] = mallinfo2();
  g_allocations[static_cast<std::size_t>(GetParam())] = g_allocation_count;
  if (GetParam() == 0) call_each(std::make_index_sequence<20>());
  if (GetParam() == 3) call_each(std::make_index_sequence<150>());
  static_cast<void>(getppid());
}

INSTANTIATE_TEST_SUITE_P(AtEachBegin, Heap, ::testing::Range(0, kTests));

}  // namespace
