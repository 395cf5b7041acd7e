// SPDX-License-Identifier: MIT
//
// Two ways to make the same report. In both, most of the CPU time is the checksum's, and the checksum is not what the
// report waits for.
// README.md walks through it.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "pipeline.h"

namespace {

using namespace std::chrono_literals;
using demo::kParts;

/// `fetchers` threads share the fetching of the parts.
int make_report(int fetchers) {
  demo::Queue fetched;
  demo::Queue parsed;
  std::vector<std::thread> threads;
  threads.push_back(demo::start("checksum", [] { demo::compute(10ms); }));
  for (int first = 0; first < fetchers; ++first) {
    threads.push_back(demo::start("fetcher", [=, &fetched] {
      for (int part = first; part < kParts; part += fetchers) {
        demo::fetch();
        fetched.put(part);
      }
    }));
  }
  threads.push_back(demo::start("parser", [&] {
    for (int i = 0; i < kParts; ++i) {
      const int part = fetched.take();
      demo::compute(2ms);
      parsed.put(part);
    }
  }));
  int sum = 0;
  for (int i = 0; i < kParts; ++i) sum += parsed.take();
  for (std::thread& thread : threads) thread.join();
  return sum;
}

TEST(Report, PartsOneAfterAnother) {
  EXPECT_EQ(make_report(1), 0 + 1 + 2);
}

TEST(Report, PartsAtOnce) {
  EXPECT_EQ(make_report(kParts), 0 + 1 + 2);
}

}  // namespace
