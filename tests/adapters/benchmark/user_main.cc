// SPDX-License-Identifier: MIT
//
// A main of the user's that runs benchmarks twice, with reporters and arguments of its own.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void BM_First(benchmark::State& state) {
  for (auto _ : state) syscall(SYS_getppid);
}
BENCHMARK(BM_First);

void BM_Second(benchmark::State& state) {
  for (auto _ : state) {
    syscall(SYS_getppid);
    syscall(SYS_getppid);
  }
}
BENCHMARK(BM_Second);

class OwnReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    has_results_ = true;
    for (const Run& run : runs) {
      std::printf("own reporter: %s", run.benchmark_name().c_str());
      for (const auto& [name, counter] : run.counters) std::printf(" %s=%g", name.c_str(), counter.value);
      std::printf("\n");
    }
  }
  void Finalize() override { std::printf("own reporter: final\n"); }
  bool has_results() const { return has_results_; }

 private:
  bool has_results_ = false;
};

bool wants(const char* variable) {
  return std::getenv(variable) != nullptr;
}

int fail(const char* why, int code) {
  std::fprintf(stderr, "%s\n", why);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  if (wants("SYSCOST_TEST_RUNS_NOTHING")) return 0;
  if (const char* const lock = std::getenv("SYSCOST_TEST_LOCK")) {  // one at a time, as a program's main() may want it
    if (flock(open(lock, O_RDWR | O_CREAT, 0600), LOCK_EX) != 0) return fail("no lock", 5);
  }
  if (wants("SYSCOST_TEST_WANTS_INPUT") && std::getchar() == EOF) return fail("no input", 4);
  benchmark::Initialize(&argc, argv);
  std::printf("arguments left:");
  for (int i = 1; i < argc; ++i) std::printf(" %s", argv[i]);
  std::printf("\n");
  OwnReporter reporter;
  const char* second_name = wants("SYSCOST_TEST_SAME") ? "BM_First" : "BM_Second";
  const std::size_t first = benchmark::RunSpecifiedBenchmarks(&reporter, std::string("BM_First"));
  if (wants("SYSCOST_TEST_CHECKS") && !reporter.has_results()) return fail("no results", 3);
  const std::size_t second = benchmark::RunSpecifiedBenchmarks(&reporter, std::string(second_name));
  std::printf("ran %zu and %zu\n", first, second);
  // Once, by the process that times: what counts stops before.
  if (std::FILE* file = std::fopen("main_ended.txt", "a")) {
    std::fputs("ended\n", file);
    std::fclose(file);
  }
  return 0;
}
