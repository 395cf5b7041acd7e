// SPDX-License-Identifier: MIT
//
// Lines of random calls in real programs: those that syscost-symbols finds are those of llvm-symbolizer, which reads
// debug information by itself. (gdb's are not comparable: it answers with the next line that a person would stop at.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory_resource>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "csv/temporary_folder.h"
#include "extras/where/symbols/symbols_link.h"

namespace syscost::symbols {
namespace {

namespace fs = std::filesystem;
using ::syscost::testing::TemporaryFolder;

constexpr std::size_t kCalls = 200;
/// Compilers write line 0 for some instructions, and each tool takes another neighbour's line.
constexpr std::size_t kMayDiffer = 2;

/// `/src/log.cc:17` for each function that is inlined there, the innermost first; empty = no line is known.
using Lines = std::vector<std::string>;

bool is_installed(const std::string& tool) {
  return std::system(("command -v " + tool + " >/dev/null").c_str()) == 0;
}

void run(const std::string& command) {
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

/// The addresses after random call instructions of `program`.
std::vector<Address> random_calls(const std::string& program, const std::string& work) {
  run("objdump -d --no-show-raw-insn -j .text " + program + " >" + work + "/code");
  std::vector<Address> calls;
  bool was_call = false;
  std::ifstream code(work + "/code");
  for (std::string line; std::getline(code, line);) {
    const std::size_t colon = line.find(":\t");
    if (colon == std::string::npos) continue;
    if (was_call) calls.push_back({std::stoull(line.substr(0, colon), nullptr, 16), false});
    was_call = line.compare(colon + 2, 4, "call") == 0;
  }
  std::mt19937 random(18);
  std::shuffle(calls.begin(), calls.end(), random);
  calls.resize(std::min(calls.size(), kCalls));
  return calls;
}

std::string hexadecimal(std::uint64_t number) {
  std::ostringstream text;
  text << "0x" << std::hex << number;
  return text.str();
}

std::vector<Lines> of_llvm(const std::string& program, const std::vector<Address>& calls, const std::string& work) {
  std::ofstream questions(work + "/questions");
  for (const Address& call : calls) questions << hexadecimal(call.offset - 1) << '\n';
  questions.close();
  run("llvm-symbolizer --output-style=LLVM --inlines --obj=" + program + " <" + work + "/questions >" + work +
      "/answers");
  std::vector<Lines> all(1);
  std::ifstream answers(work + "/answers");
  for (std::string function; std::getline(answers, function);) {
    if (function.empty()) {
      all.emplace_back();
      continue;
    }
    std::string place;  // FILE:LINE:COLUMN
    std::getline(answers, place);
    place.resize(place.rfind(':'));
    const bool is_known = place.front() != '?' && !place.ends_with(":0");
    if (is_known) all.back().push_back(fs::path(place).lexically_normal());
  }
  all.resize(calls.size());
  return all;
}

std::vector<Lines> of_ours(const std::string& program, const std::vector<Address>& calls, const std::string& work) {
  run("readelf -n " + program + " | sed -n 's/.*Build ID: //p' >" + work + "/id");
  std::string build_id;
  std::ifstream(work + "/id") >> build_id;
  SymbolsLink link(*std::pmr::get_default_resource());
  Answer answer(std::pmr::get_default_resource());
  const Result<void> asked = link.look_up({program, build_id, std::pmr::get_default_resource()}, calls, answer);
  EXPECT_TRUE(asked.ok()) << asked.failure().reason;
  EXPECT_TRUE(answer.reason.empty()) << answer.reason;
  std::vector<Lines> all;
  for (const Place& place : answer.places) {
    Lines& lines = all.emplace_back();
    for (const SourceFrame& frame : place.frames) {
      if (frame.line != 0) lines.push_back(std::string(frame.file) + ":" + std::to_string(frame.line));
    }
  }
  return all;
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += " " + line;
  return text.empty() ? " no line" : text;
}

struct Subject {
  std::string name;
  std::string compiler;  ///< Empty: this program.
};
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's name
void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.name;
}

class OtherSymbolizers : public ::testing::TestWithParam<Subject> {};

TEST_P(OtherSymbolizers, FindTheSameLinesOfRandomCalls) {
  const Subject& subject = GetParam();
  for (const std::string& needed : {std::string("llvm-symbolizer"), std::string("objdump"), subject.compiler}) {
    if (!needed.empty() && !is_installed(needed)) GTEST_SKIP() << needed << " is not installed";
  }
  const TemporaryFolder folder;
  std::string program = fs::canonical("/proc/self/exe");
  if (!subject.compiler.empty()) {
    program = folder.file("program");
    run(subject.compiler + " -std=c++17 -O2 -g " SYSCOST_SOURCE_DIR "/tests/unit/symbols/library_caller.cc -o " +
        program);
  }
  const std::vector<Address> calls = random_calls(program, folder.path());
  ASSERT_EQ(calls.size(), kCalls);
  const std::vector<Lines> theirs = of_llvm(program, calls, folder.path());
  const std::vector<Lines> ours = of_ours(program, calls, folder.path());
  ASSERT_EQ(theirs.size(), kCalls);
  ASSERT_EQ(ours.size(), kCalls);
  std::size_t known = 0;
  std::string differences;
  std::size_t different = 0;
  for (std::size_t i = 0; i < kCalls; ++i) {
    known += ours[i].empty() ? 0 : 1;
    if (ours[i] == theirs[i]) continue;
    ++different;
    differences += "\ncall before " + hexadecimal(calls[i].offset) + "\n  ours" + text_of(ours[i]) + "\n  llvm" +
                   text_of(theirs[i]);
  }
  EXPECT_LE(different, kMayDiffer) << differences;
  EXPECT_GE(known, kCalls / 4) << "few calls have a line at all";
}

INSTANTIATE_TEST_SUITE_P(Of, OtherSymbolizers,
                         ::testing::Values(Subject{"ThisProgram", ""}, Subject{"Gcc", "g++"},
                                           Subject{"Clang", "clang++"}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace syscost::symbols
