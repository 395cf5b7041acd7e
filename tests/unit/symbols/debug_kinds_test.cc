// SPDX-License-Identifier: MIT
//
// Compiles one program with each kind of debug information, and holds the functions and lines that syscost-symbols
// finds against the marks in the source. A compiler that cannot make a kind skips it, with the compiler's message.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory_resource>
#include <sstream>
#include <string>
#include <vector>

#include "csv/temporary_folder.h"
#include "extras/where/symbols/symbols_link.h"

namespace syscost::symbols {
namespace {

namespace fs = std::filesystem;

const fs::path kSources = SYSCOST_SOURCE_DIR "/tests/unit/symbols";

struct Mark {
  std::string name;
  std::string file;
  std::uint32_t line;
  std::string function;
};

/// `// MARK name function` of a file.
std::vector<Mark> marks_of(const fs::path& file) {
  std::vector<Mark> marks;
  std::ifstream in(file);
  std::uint32_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::size_t at = line.find("// MARK ");
    if (at == std::string::npos) continue;
    Mark mark{{}, file.string(), number, {}};
    std::istringstream words(line.substr(at + 8));
    words >> mark.name;
    std::getline(words >> std::ws, mark.function);
    marks.push_back(mark);
  }
  return marks;
}

/// In the order in which the program comes past them.
std::vector<Mark> marks() {
  std::vector<Mark> found = marks_of(kSources / "subject.cc");
  const std::vector<Mark> header = marks_of(kSources / "subject.h");
  found.insert(found.end(), header.begin(), header.end());
  std::vector<Mark> ordered;
  for (const std::string_view name : {"method", "inlined", "template", "c", "file_local", "lambda", "header"}) {
    for (const Mark& mark : found) {
      if (mark.name == name) ordered.push_back(mark);
    }
  }
  return ordered;
}

/// Little debug information has lines, and of functions without a symbol only the last part of the name.
enum class Has { lines, few_scopes, functions, nothing };

struct Kind {
  std::string name;
  std::string compile;  ///< {s} the sources, {w} the folder of the work; makes {w}/subject.
  Has has = Has::lines;
};

const std::string kGcc = "g++ -std=c++17 -O2 {s}/subject.cc {s}/here.cc -o {w}/subject -ldl ";
const std::string kClang = "clang++ -std=c++17 -O2 {s}/subject.cc {s}/here.cc -o {w}/subject -ldl ";

std::vector<Kind> kinds() {
  return {
      {"g", kGcc + "-g"},
      {"g1", kGcc + "-g1", Has::few_scopes},
      {"O0", kGcc + "-g -O0"},
      {"gz", kGcc + "-g -gz"},
      {"dwarf4", kGcc + "-gdwarf-4 -g"},
      {"dwarf5", kGcc + "-gdwarf-5 -g"},
      {"no_pie", kGcc + "-g -no-pie"},
      {"lto", kGcc + "-g -flto"},
      {"split", "cd {w} && " + kGcc + "-g -gsplit-dwarf"},
      {"split4", "cd {w} && " + kGcc + "-gdwarf-4 -g -gsplit-dwarf"},
      {"debuglink", kGcc + "-g && cd {w} && objcopy --only-keep-debug subject subject.debug && "
                           "objcopy --strip-all --add-gnu-debuglink=subject.debug subject"},
      {"sections", kGcc + "-g -ffunction-sections -Wl,--gc-sections"},
      {"clang", kClang + "-g"},
      {"clang_dwarf4", kClang + "-gdwarf-4"},
      {"clang_lines", kClang + "-gline-tables-only", Has::few_scopes},
      {"clang_split", "cd {w} && " + kClang + "-g -gsplit-dwarf"},
      {"clang_lto", kClang + "-g -flto -fuse-ld=lld"},
      {"relative", "cd {s} && " + kGcc + "-g -I{s}/../symbols/./"},
      {"no_debug", kGcc, Has::functions},
      {"stripped", kGcc + "-s", Has::nothing},
  };
}

std::string filled(std::string text, const std::string& work) {
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  replace("{s}", kSources.string());
  replace("{w}", work);
  return text;
}

std::string build_id_of(const std::string& program, const std::string& work) {
  const std::string command = "readelf -n " + program + " | sed -n 's/.*Build ID: //p' | head -n 1 >" + work + "/id";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::string id = syscost::testing::read_file(work + "/id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

class DebugKinds : public ::testing::TestWithParam<Kind> {};

TEST_P(DebugKinds, FindsFunctionsAndLines) {
  const syscost::testing::TemporaryFolder folder;
  const std::string& work = folder.path();
  const std::string command = "( " + filled(GetParam().compile, work) + " ) 2>" + work + "/log";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << syscost::testing::read_file(work + "/log");
  const std::string program = work + "/subject";
  ASSERT_EQ(std::system((program + " >" + work + "/addresses").c_str()), 0);
  std::vector<Address> addresses;
  std::ifstream in(work + "/addresses");
  for (std::string text; in >> text;) addresses.push_back({std::stoull(text, nullptr, 16), false});
  const std::vector<Mark> expected = marks();
  ASSERT_EQ(addresses.size(), expected.size());

  SymbolsLink link(*std::pmr::get_default_resource());
  Answer answer(std::pmr::get_default_resource());
  const Result<void> asked =
      link.look_up({program, build_id_of(program, work), std::pmr::get_default_resource()}, addresses, answer);
  ASSERT_TRUE(asked.ok()) << asked.failure().reason;
  ASSERT_TRUE(answer.reason.empty()) << answer.reason;
  ASSERT_EQ(answer.places.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(expected[i].name);
    const Place& place = answer.places[i];
    EXPECT_FALSE(place.is_signal_frame);
    if (GetParam().has == Has::nothing) {
      EXPECT_TRUE(place.frames.empty());
      continue;
    }
    ASSERT_FALSE(place.frames.empty());
    const SourceFrame& frame = place.frames.front();
    if (GetParam().has == Has::functions) {
      EXPECT_TRUE(frame.file.empty()) << frame.file;
      EXPECT_EQ(frame.line, 0U);
      // Inlined functions have no symbol: their caller's is the only true name.
      EXPECT_TRUE(frame.function == "main" || std::string_view(frame.function).starts_with(expected[i].function))
          << frame.function;
      continue;
    }
    EXPECT_EQ(std::string_view(frame.file), expected[i].file);
    EXPECT_EQ(frame.line, expected[i].line);
    if (GetParam().has == Has::few_scopes) {
      const std::string& name = expected[i].function;
      EXPECT_TRUE(frame.function == "operator()" ||
                  std::string_view(frame.function).find(name.substr(name.rfind(':') + 1)) != std::string_view::npos)
          << frame.function;
      continue;
    }
    EXPECT_TRUE(std::string_view(frame.function).starts_with(expected[i].function)) << frame.function;
    EXPECT_TRUE(frame.first_line == 0 || frame.first_line + 2 >= frame.line) << frame.first_line;
    EXPECT_EQ(std::string_view(place.frames.back().function) == "main" || place.frames.size() == 1, true);
    // g++ writes no first line for lambdas; clang writes no list of files that libdw could read for split information.
    if (expected[i].name != "lambda" && GetParam().name != "clang_split") {
      EXPECT_NE(frame.first_line, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, DebugKinds, ::testing::ValuesIn(kinds()),
                         [](const ::testing::TestParamInfo<Kind>& kind) { return kind.param.name; });

}  // namespace
}  // namespace syscost::symbols
