// SPDX-License-Identifier: MIT
//
// The facts that the rules are told of a trace: paths, folders and descriptors as they were at each call.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "findings/rules.h"
#include "findings_in_trace.h"
#include "made_trace.h"

namespace syscost::bench::findings {
namespace {

using testing::evidence_of;
using testing::hits_of;
using testing::MadeTrace;
using testing::Texts;

TEST(TracedWindow, TellsPathsBeforeAndAfterAChdirApart) {
  MadeTrace trace;
  for (int i = 0; i < 10; ++i) trace.missing("settings");
  trace.call("chdir", {{"filename", "\"/tmp\""}}, 0);
  for (int i = 0; i < 10; ++i) trace.missing("settings");
  EXPECT_EQ(evidence_of("missing-paths", trace), Texts{});
}

TEST(TracedWindow, BearsNumbersThatNoCallReturns) {
  const std::string most = "9223372036854775807";
  MadeTrace trace;
  trace.open("a", 3).call("lseek", {{"fd", "3"}}, most).call("read", {{"fd", "3"}}, most);
  for (int i = 0; i < 20; ++i) trace.call("read", {{"fd", "3"}}, std::int64_t{1} << 60);
  trace.call("pread64", {{"fd", "3"}, {"pos", most}}, 100).call("read", {{"fd", "99999999999999999999"}}, "?");
  for (const Rule& rule : rules()) {
    if (rule.in_trace != nullptr) hits_of(rule.name, trace);
  }
}

TEST(TracedWindow, FindsFoldersByTheirDescriptors) {
  MadeTrace trace;
  trace.open("/usr/lib", 9, "O_RDONLY|O_DIRECTORY");
  for (int i = 0; i < 16; ++i) {
    trace.call("openat", {{"dfd", "9"}, {"filename", "\"x\""}, {"flags", "O_RDONLY"}},
               "-1 ENOENT (No such file or directory)");
  }
  EXPECT_EQ(evidence_of("missing-paths", trace), Texts{"/usr/lib/x is looked for 16 times, and is never there"});
}

}  // namespace
}  // namespace syscost::bench::findings
