// SPDX-License-Identifier: MIT
//
// Which frame of a stack is a call's site, and the text of a row.
#include "extras/where/symbols/site.h"

#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "csv/temporary_folder.h"

namespace syscost::symbols {
namespace {

class Site : public ::testing::Test {
 protected:
  struct Known {
    std::string function = {};
    std::string file = {};
    std::uint32_t line = 0;
    std::uint32_t first_line = 0;
  };

  /// Adds a frame, outside those added before.
  void add(const std::string& module, const std::vector<Known>& inlined, std::uint64_t offset = 0x1234) {
    Place& place = places_.emplace_back(&memory_);
    for (const Known& known : inlined) {
      SourceFrame& frame = place.frames.emplace_back(&memory_);
      frame.function = known.function;
      frame.file = known.file;
      frame.line = known.line;
      frame.first_line = known.first_line;
    }
    frames_.push_back({&modules_.emplace_back(module, "", &memory_), offset, &place});
  }
  void add_libc() { add("/lib/x86_64-linux-gnu/libc.so.6", {{"write"}}); }
  std::string text(StackEnd end = StackEnd::complete) {
    return std::string(site_text(frames_, end, rule_, tree_, memory_));
  }
  std::string folded() { return std::string(folded_text(frames_, StackEnd::complete, memory_)); }

  std::pmr::memory_resource& memory_ = *std::pmr::get_default_resource();
  std::deque<Place> places_;
  std::deque<Module> modules_;
  std::vector<ResolvedFrame> frames_;
  SiteRule rule_{{}, "/home/me/build/log_test"};
  SourceTree tree_{memory_};
};

TEST_F(Site, IsTheInnermostLineOutsideTheSystemWithItsDistanceFromTheFunction) {
  add_libc();
  add("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", {{"std::ostream::flush"}});
  add("/home/me/build/log_test", {{"std::endl", "/usr/include/c++/12/ostream", 736, 735},
                                  {"Log::batch", "/nowhere/src/log.cc", 17, 14},
                                  {"run", "/nowhere/src/main.cc", 3, 2}});
  EXPECT_EQ(text(), "at /nowhere/src/log.cc:17 Log::batch+3");
  EXPECT_EQ(folded(), "run;Log::batch;std::endl;std::ostream::flush;write");
}

TEST_F(Site, IsTheFirstOfTheFramesThatAreTheUsers) {
  add_libc();
  add("/home/me/build/log_test", {{"std::endl", "/usr/include/c++/12/ostream", 736, 735},
                                  {"Log::batch", "/nowhere/src/log.cc", 17, 14},
                                  {"run", "/nowhere/src/main.cc", 3, 2}});
  add("/usr/lib/x86_64-linux-gnu/libother.so", {{"call_back"}});
  add("/home/me/build/libplain.so", {});
  add("/home/me/build/log_test", {{"main"}});
  EXPECT_EQ(user_frames(frames_, rule_, tree_, memory_),
            (std::vector<std::string>{"/nowhere/src/log.cc:17 Log::batch+3", "/nowhere/src/main.cc:3 run+1",
                                      "libplain.so+0x1234", "log_test main"}));
}

TEST_F(Site, LeavesOutWhatIsUnknown) {
  add("/home/me/build/liblog.so", {{"Log::batch", "/nowhere/log.cc", 17, 0}});
  EXPECT_EQ(text(), "at /nowhere/log.cc:17 Log::batch");
  frames_.clear();
  add("/home/me/build/liblog.so", {{"Log::batch"}});
  EXPECT_EQ(text(), "at liblog.so Log::batch");
  frames_.clear();
  add("/home/me/build/liblog.so", {});
  EXPECT_EQ(text(), "at liblog.so+0x1234");
}

TEST_F(Site, PassesOverTheStandardLibraryAlsoWithoutLines) {
  add_libc();
  add("/home/me/build/log_test", {{"std::ostream::put"}});
  add("/home/me/build/log_test", {{"Log::batch"}});
  EXPECT_EQ(text(), "at log_test Log::batch");
}

TEST_F(Site, NamesTheTellingFrameIfNoFrameIsTheUsers) {
  add_libc();
  add("/lib/x86_64-linux-gnu/libc.so.6", {{"start_thread"}});
  add("/lib/x86_64-linux-gnu/libc.so.6", {{"clone3"}});
  EXPECT_EQ(text(), "at libc.so.6 start_thread");
  add("/usr/lib/libcuda.so.1", {});
  EXPECT_EQ(text(), "at libcuda.so.1+0x1234");
}

TEST_F(Site, SaysWhyAStackIsNotWhole) {
  add_libc();
  EXPECT_EQ(text(StackEnd::no_unwind_information), "at unknown: no unwind information");
  EXPECT_EQ(text(StackEnd::too_deep), "at unknown: the stack is too deep");
  frames_ = {ResolvedFrame{}};
  EXPECT_EQ(text(), "at unknown: code outside every file");
}

TEST_F(Site, SkipsFilesAndFoldersAsRequested) {
  add("/home/me/build/log_test", {{"io::put", "/home/me/third_party/io/put.cc", 5, 4}});
  add("/home/me/build/log_test", {{"Log::batch", "/home/me/party/log.cc", 9, 9}});
  EXPECT_EQ(text(), "at /home/me/third_party/io/put.cc:5 io::put+1");
  for (const char* skipped : {"third_party", "/home/me/third_party", "/home/me/third_party/", "io/put.cc"}) {
    rule_.skipped = {skipped};
    EXPECT_EQ(text(), "at /home/me/party/log.cc:9 Log::batch+0") << skipped;
  }
  rule_.skipped = {"party", "third", "me/third_party/i"};
  EXPECT_EQ(text(), "at /home/me/third_party/io/put.cc:5 io::put+1");
}

TEST_F(Site, TakesTheMainProgramForTheUsersWhereverItLies) {
  rule_.main_program = "/usr/bin/rsync";
  add_libc();
  add("/usr/bin/rsync", {{"main"}});
  EXPECT_EQ(text(), "at rsync main");
}

TEST_F(Site, ShowsPathsFromTheRootOfTheCheckout) {
  const syscost::testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("src"));
  std::filesystem::create_directories(folder.file("module/src"));
  std::filesystem::create_directory(folder.file(".git"));
  syscost::testing::write_file(folder.file("module/.git"), "gitdir: ../.git/modules/module\n");
  EXPECT_EQ(tree_.shown(folder.file("src/log.cc")), "src/log.cc");
  EXPECT_EQ(tree_.shown(folder.file("module/src/a.cc")), "module/src/a.cc");
  EXPECT_EQ(tree_.shown("src/log.cc"), "src/log.cc");
  EXPECT_EQ(tree_.shown("/nowhere/src/log.cc"), "/nowhere/src/log.cc");
}

TEST_F(Site, HoldsNoControlCharactersOfAHostileFile) {
  add("/home/me/build/log_test", {{"evil\nname", "/nowhere/a\tb.cc", 1, 1}});
  EXPECT_EQ(text(), "at /nowhere/a?b.cc:1 evil?name+0");
}

}  // namespace
}  // namespace syscost::symbols
