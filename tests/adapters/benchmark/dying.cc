// SPDX-License-Identifier: MIT
//
// Benchmarks that end the process in which they are counted, in the way and at the point that SYSCOST_TEST_DIES names:
// NAME:WHERE:HOW, several of them with commas between. The process that times lives.
#include <benchmark/benchmark.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

void die(const std::string& how) {
  std::fprintf(stderr, "about to %s\n", how.c_str());
  if (how == "abort") std::abort();
  if (how == "exit") std::exit(0);
  if (how == "quick_exit") std::quick_exit(0);
  if (how == "throw") throw std::runtime_error("thrown by the body");
  if (how == "kill") raise(SIGKILL);
}

/// Ends the process if it is wanted of `name` at `where`.
void maybe_die(const std::string& name, const std::string& where) {
  const char* wanted = std::getenv("SYSCOST_TEST_DIES");
  if (wanted == nullptr || std::getenv("SYSCOST_INTERNAL_COUNTING") == nullptr) return;
  const std::string prefix = "," + name + ":" + where + ":";
  const std::string all = "," + std::string(wanted) + ",";
  const std::size_t at = all.find(prefix);
  if (at == std::string::npos) return;
  const std::size_t how = at + prefix.size();
  die(all.substr(how, all.find(',', how) - how));
}

void run(benchmark::State& state, const std::string& name) {
  maybe_die(name, "before");
  for (auto _ : state) {
    maybe_die(name, "in");
    syscall(SYS_getppid);
  }
  maybe_die(name, "after");
}

void BM_First(benchmark::State& state) {
  run(state, "First");
}
BENCHMARK(BM_First);

bool g_is_left = false;  // by the one in the middle

// A name that a regular expression has other ideas about.
void BM_Middle(benchmark::State& state) {
  g_is_left = true;
  run(state, "Middle");
}
BENCHMARK(BM_Middle)->Name("BM_Middle<(a|b)*>[$^+?.{1}\\]");

// Their bodies are told apart by the number of calls.
void BM_Twin(benchmark::State& state) {
  run(state, "Twin");
}
void BM_Between(benchmark::State& state) {
  run(state, "Between");
}
void BM_TwinOfIt(benchmark::State& state) {
  for (auto _ : state) {
    syscall(SYS_getppid);
    syscall(SYS_getppid);
  }
}

/// Dies if the benchmark in the middle has left its mark.
void set_up_last(const benchmark::State&) {
  if (g_is_left) maybe_die("Middle", "later");
}
void BM_Last(benchmark::State& state) {
  run(state, "Last");
}
BENCHMARK(BM_Last)->Setup(set_up_last);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (std::getenv("SYSCOST_TEST_TWINS") != nullptr) {
    benchmark::RegisterBenchmark("BM_Twin", BM_Twin);
    benchmark::RegisterBenchmark("BM_Between", BM_Between);
    benchmark::RegisterBenchmark("BM_Twin", BM_TwinOfIt);
  }
  benchmark::RunSpecifiedBenchmarks();
}
