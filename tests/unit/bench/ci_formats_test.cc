// SPDX-License-Identifier: MIT
//
// Pieces of the formats for CI: the size cap, XML, and where tests are written. Whole outputs are golden (tests/cli).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "model/test_locations.h"
#include "render/ci_report.h"
#include "render/svg.h"
#include "render/table.h"

namespace syscost::bench {
namespace {

std::string lines(std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += "a line of twenty one\n";
  return text;
}

TEST(SizeCap, LeavesWhatFits) {
  EXPECT_EQ(render::capped_markdown(lines(10), 1000), lines(10));
}

TEST(SizeCap, IsNeverPassedAndSaysWhatIsLeftOut) {
  for (const std::size_t most : {1000U, 5000U, 60000U}) {
    const std::string cut = render::capped_markdown(lines(10000), most);
    EXPECT_LE(cut.size(), most);
    EXPECT_NE(cut.find("more lines of 210000 bytes in all do not fit"), std::string::npos) << cut;
  }
  EXPECT_LE(render::capped_markdown(std::string(5000, 'x'), 1000).size(), 1000U) << "no line ends in time";
}

TEST(SizeCap, ClosesWhatItCutsOpen) {
  const std::string cut = render::capped_markdown("<details>\n````\n```\n" + lines(1000), 1000);
  EXPECT_NE(cut.find("\n````\n\n</details>\n\n**Cut: "), std::string::npos) << cut;
  const std::string whole = "<details>\n```\nx\n```\n</details>\n";
  EXPECT_EQ(render::capped_markdown(whole + lines(1000), 1000).find("</details>"), whole.find("</details>"));
  EXPECT_EQ(render::capped_markdown(whole + lines(1000), 1000).rfind("</details>"), whole.find("</details>"));
}

TEST(Xml, HoldsAnyName) {
  EXPECT_EQ(render::escaped_xml("BM_Fill<int>/8 & \"x\" 'y'"), "BM_Fill&lt;int&gt;/8 &amp; &quot;x&quot; 'y'");
  EXPECT_EQ(render::escaped_xml("a\nb\tc"), "a&#10;b&#9;c");
  EXPECT_EQ(render::escaped_xml(std::string_view("\0\x1b\xff", 3)), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(render::escaped_xml("\xEF\xBF\xBF gr\xC3\xBC\xC3\x9F"), "\xEF\xBF\xBD gr\xC3\xBC\xC3\x9F");
}

TEST(GitHubCommands, ShowWhatANameWouldDoToATerminalAndEndNoLine) {
  render::CiReport report;
  report.command = "bench check";
  render::CiCase one;
  one.name = "A.B\x1b[31m";
  one.location = model::Location{"x\n::error::a%0A,line=3:\x1b[31m\u202e\"><script>\xff", 7};
  one.failures.push_back({"count", "grew\x1b]0;x\a", std::nullopt});
  report.cases = {one};
  const std::string text = render::github_commands(report);
  EXPECT_TRUE(
      text.starts_with("::error file=x%0A%3A%3Aerror%3A%3Aa%250A%2Cline=3%3A\\x1b[31m\\u202e\"><script>\\xff,line=7,"
                       "title=syscost%3A A.B\\x1b[31m::grew\\x1b]0;x\\x07\n"))
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(TestLocations, AreNoLinesThatNoFileHas) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("syscost-locations-lines-test." + std::to_string(::getpid()) + ".json");
  for (const char* line :
       {"-1", "18446744073709551615", "18446744073709551616", "2147483648", "1.5", "\"1\"", "null"}) {
    std::ofstream(file)
        << R"({"testsuites": [{"name": "Log", "testsuite": [{"name": "Writes", "file": "a.cc", "line": )" << line
        << "}]}]}";
    model::TestLocations locations;
    EXPECT_NE(locations.load(file.string()).find("\"line\" of Log.Writes is no number of a line"), std::string::npos)
        << line;
  }
  std::filesystem::remove(file);
  EXPECT_FALSE(model::location_of_site("src/log.cc:18446744073709551615 Log::batch"));
  EXPECT_EQ(model::location_of_site("src/log.cc:2147483647 Log::batch")->line, 2147483647U);
}

TEST(TestLocations, AreFoundByTheNamesOfRows) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("syscost-locations-test." + std::to_string(::getpid()) + ".json");
  std::ofstream(file) << R"({"testsuites": [{"name": "Log", "testsuite": [
      {"name": "Writes", "file": "src/../src/log_test.cc", "line": 7}, {"name": "Old"}]},
      {"name": "All/Log", "testsuite": [{"name": "Writes/0", "file": ")"
                      << std::filesystem::current_path().string() << R"(/tests/log.cc", "line": 9}]}]})";
  model::TestLocations locations;
  EXPECT_EQ(locations.load(file.string()), "");
  std::filesystem::remove(file);
  EXPECT_EQ(locations.find("Log.Writes")->file, "src/log_test.cc");
  EXPECT_EQ(locations.find("Log.Writes, loop flush")->line, 7U);
  EXPECT_EQ(locations.find("Log.Writes (log_tests)")->line, 7U);
  EXPECT_EQ(locations.find("Log.Gone -> Log.Writes")->line, 7U);
  EXPECT_EQ(locations.find("All/Log.Writes/0")->file, "tests/log.cc") << "relative to where bench runs";
  EXPECT_FALSE(locations.find("Log.Old").has_value()) << "GoogleTest did not say";
  EXPECT_FALSE(locations.find("Log").has_value());
  EXPECT_NE(locations.load("/nonexistent").find("cannot be read"), std::string::npos);
}

}  // namespace
}  // namespace syscost::bench
