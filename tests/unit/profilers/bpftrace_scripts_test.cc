// SPDX-License-Identifier: MIT
//
// Every shipped script with the real bpftrace: it attaches, passes its own check, and finds what the test did.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "traced.h"

namespace syscost::profilers {
namespace {

class ShippedScripts : public TracedTest {
 protected:
  /// The value of map `name`; of a histogram the sum of its counts; -1 when it is not there.
  std::int64_t traced(const std::string& name) const {
    for (const Artifact& artifact : output_.artifacts) {
      if (!artifact.name.ends_with(".json")) continue;
      const nlohmann::json json = nlohmann::json::parse(artifact.content);
      for (const auto& map : json["maps"]) {
        if (map["name"] != name) continue;
        const auto& entry = map["entries"][0];
        if (entry.contains("value")) return entry["value"].get<std::int64_t>();
        std::int64_t sum = 0;
        for (const auto& bucket : entry["histogram"]) sum += bucket["count"].get<std::int64_t>();
        return sum;
      }
    }
    return -1;
  }
};

TEST_F(ShippedScripts, AllPassTheirCheck) {
  for (const ScriptInfo& script : list_scripts({})) {
    SCOPED_TRACE(script.name);
    if (!make(script.name)) return;
    const Result<void> checked = profiler_->check();
    EXPECT_TRUE(checked.ok()) << text_of(checked.failure());
  }
}

TEST_F(ShippedScripts, RunTogether) {
  if (!attach("syslat")) return;
  ASSERT_TRUE(detach());
  Result<std::unique_ptr<Profiler>> made =
      make_bpftrace({.scripts = {"syslat", "syscount", "iolat"}, .script_folders = {}});
  ASSERT_TRUE(made.ok()) << text_of(made.failure());
  ASSERT_TRUE(made.value()->attach().ok());
  made.value()->arm();
  write_times(300);
  made.value()->disarm();
  const Result<std::vector<Output>> outputs = made.value()->detach();
  ASSERT_TRUE(outputs.ok()) << text_of(outputs.failure());
  ASSERT_EQ(outputs.value().size(), 3U);
  EXPECT_EQ(outputs.value()[0].syscalls.at(0).entries, 300U);
  EXPECT_EQ(outputs.value()[1].syscalls.at(0).entries, 300U);
  output_ = outputs.value()[2];
  EXPECT_EQ(traced("@iolat_write_ns"), 300);
}

TEST_F(ShippedScripts, SyscountCountsEntriesAndSaysNothingElse) {
  if (!attach("syscount")) return;
  profiler_->arm();
  write_times(500);
  profiler_->disarm();
  const SyscallFigures writes = detach_and_find(SYS_write);
  EXPECT_EQ(writes.entries, 500U);
  EXPECT_EQ(writes.returned, std::nullopt);
  EXPECT_FALSE(writes.has_errors);
}

TEST_F(ShippedScripts, IolatTellsReadsFromWritesAndAddsUpTheirBytes) {
  if (!attach("iolat")) return;
  char path[] = "/tmp/syscost-iolat-XXXXXX";
  const int file = mkostemp(path, O_CLOEXEC);
  ASSERT_GE(file, 0);
  unlink(path);
  char page[4096] = {};
  profiler_->arm();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(pwrite(file, page, sizeof page, 0), 4096);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(pread(file, page, 1000, 0), 1000);
  EXPECT_EQ(read(-1, page, 1), -1);
  profiler_->disarm();
  close(file);
  ASSERT_TRUE(detach());
  EXPECT_EQ(traced("@iolat_write_ns"), 100);
  EXPECT_EQ(traced("@iolat_write_bytes_total"), 409'600);
  EXPECT_EQ(traced("@iolat_read_ns"), 51);
  EXPECT_EQ(traced("@iolat_read_bytes_total"), 50'000);
  EXPECT_EQ(traced("@iolat_read_failed"), 1);
  EXPECT_FALSE(output_.counts_syscalls);
}

TEST_F(ShippedScripts, FsyncCountsEachKindOfSync) {
  if (!attach("fsync")) return;
  char path[] = "/tmp/syscost-fsync-XXXXXX";
  const int file = mkostemp(path, O_CLOEXEC);
  ASSERT_GE(file, 0);
  unlink(path);
  profiler_->arm();
  for (int i = 0; i < 5; ++i) fsync(file);
  for (int i = 0; i < 3; ++i) fdatasync(file);
  fsync(-1);
  profiler_->disarm();
  close(file);
  ASSERT_TRUE(detach());
  EXPECT_EQ(traced("@fsync_ns"), 6);
  EXPECT_EQ(traced("@fdatasync_ns"), 3);
  EXPECT_EQ(traced("@fsync_failed"), 1);
}

TEST_F(ShippedScripts, PagefaultSeesFreshPagesWritten) {
  if (!attach("pagefault")) return;
  constexpr std::size_t kPages = 100;
  const std::size_t bytes = kPages * 4096;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  profiler_->arm();
  for (std::size_t i = 0; i < kPages; ++i) static_cast<volatile char*>(memory)[i * 4096] = 1;
  profiler_->disarm();
  munmap(memory, bytes);
  ASSERT_TRUE(detach());
  EXPECT_EQ(traced("@pagefault_user_missing_write"), kPages);
}

// A sleep of a millisecond leaves the CPU, unless the machine is so loaded that it is over before.
TEST_F(ShippedScripts, OffcpuSeesSleeps) {
  if (!attach("offcpu")) return;
  profiler_->arm();
  for (int i = 0; i < 20; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  profiler_->disarm();
  ASSERT_TRUE(detach());
  EXPECT_GE(traced("@offcpu_sleeping_ns"), 10);
  EXPECT_NE(output_.summary.find("schedule"), std::string::npos) << output_.summary;
}

TEST_F(ShippedScripts, RunqlatSeesWakeUps) {
  if (!attach("runqlat")) return;
  profiler_->arm();
  for (int i = 0; i < 20; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::thread([] {}).join();
  profiler_->disarm();
  ASSERT_TRUE(detach());
  EXPECT_GE(traced("@runqlat_ns"), 10);
}

}  // namespace
}  // namespace syscost::profilers
