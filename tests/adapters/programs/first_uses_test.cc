// SPDX-License-Identifier: MIT
//
// Calls that the C library makes once in a process, here inside tests. They must be charged to no test, and the program
// must behave as without syscost.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

TEST(FirstUses, SortsAnArray) {
  std::vector<int> numbers(5000, 1);
  std::qsort(numbers.data(), numbers.size(), sizeof(int),
             [](const void* a, const void* b) { return *static_cast<const int*>(a) - *static_cast<const int*>(b); });
}

/// Called before main(), because it reads the list of processors too.
const std::size_t kProcessors = std::thread::hardware_concurrency();

/// How many arenas malloc has made.
std::size_t arenas() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const file = open_memstream(&text, &size);
  malloc_info(0, file);
  std::fclose(file);
  std::size_t count = 0;
  const std::string_view info(text, size);
  constexpr std::string_view kArena = "<heap nr=";
  for (std::size_t at = info.find(kArena); at != std::string_view::npos; at = info.find(kArena, at + 1)) ++count;
  std::free(text);
  return count;
}

// More threads at a time than processors times eight, so that each limit is met.
TEST(FirstUses, MakesEveryArena) {
  const std::size_t count = 8 * kProcessors + 4;
  if (count > 300) GTEST_SKIP() << "too many processors for a thread to each arena";
  std::atomic<std::size_t> ready{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      void* volatile block = std::malloc(5000);
      std::free(block);
      ++ready;
      while (ready < count) std::this_thread::yield();
    });
  }
  for (std::thread& one : threads) one.join();
  RecordProperty("arenas", std::to_string(arenas()));
}

TEST(FirstUses, ChangesTheTimeZone) {
  setenv("TZ", "SYC-9", 1);  // a zone of its own words, nine hours east of Greenwich
  const std::time_t epoch = 0;
  std::tm local{};
  localtime_r(&epoch, &local);
  EXPECT_EQ(local.tm_hour, 9);
}

}  // namespace
