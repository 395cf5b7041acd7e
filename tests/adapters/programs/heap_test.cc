// SPDX-License-Identifier: MIT
//
// Tests that look at the program's heap: what syscost does between two tests must not depend on its flags.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <utility>

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

class Heap : public ::testing::TestWithParam<int> {
 public:
  static void TearDownTestSuite() {
    // What it finds at the begin depends on the environment and on process ids, too.
    for (std::size_t i = 1; i < seen.size(); ++i) {
      std::printf("heap of test %zu: %+zd bytes from the kernel, %+zd in use, %+zd free\n", i,
                  difference(seen[i].arena, seen[0].arena), difference(seen[i].uordblks, seen[0].uordblks),
                  difference(seen[i].fordblks, seen[0].fordblks));
    }
  }
  static constexpr int kTests = 8;

 protected:
  static std::ptrdiff_t difference(std::size_t now, std::size_t before) {
    return static_cast<std::ptrdiff_t>(now) - static_cast<std::ptrdiff_t>(before);
  }
  static inline std::array<struct mallinfo2, kTests> seen{};
};

TEST_P(Heap, IsTheSame) {
  seen[static_cast<std::size_t>(GetParam())] = mallinfo2();
  if (GetParam() == 0) call_each(std::make_index_sequence<20>());
  if (GetParam() == 3) call_each(std::make_index_sequence<150>());
  static_cast<void>(getppid());
}

INSTANTIATE_TEST_SUITE_P(AtEachBegin, Heap, ::testing::Range(0, Heap::kTests));

}  // namespace
