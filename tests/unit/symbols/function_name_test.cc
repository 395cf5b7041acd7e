// SPDX-License-Identifier: MIT
#include "extras/where/symbols/helper/function_names.h"

#include <gtest/gtest.h>

namespace syscost::symbols {
namespace {

TEST(FunctionName, HasNamespacesAndClassesAndNoParameters) {
  EXPECT_EQ(without_parameters("store::Log::batch(int, char const*) const"), "store::Log::batch");
  EXPECT_EQ(without_parameters("main"), "main");
  EXPECT_EQ(without_parameters("(anonymous namespace)::probe()"), "(anonymous namespace)::probe");
  EXPECT_EQ(without_parameters("Log::flush() [clone .cold]"), "Log::flush");
  EXPECT_EQ(without_parameters("Log_WritesABatch_Test::TestBody()"), "Log_WritesABatch_Test::TestBody");
}

TEST(FunctionName, HasNoReturnType) {
  EXPECT_EQ(without_parameters("int store::put<long>(long)"), "store::put<long>");
  EXPECT_EQ(without_parameters("std::vector<int, std::allocator<int> > make<int>(int)"), "make<int>");
  EXPECT_EQ(without_parameters("decltype(auto) run<int>(int)"), "run<int>");
}

TEST(FunctionName, KeepsOperators) {
  EXPECT_EQ(without_parameters("Log::operator()(int)"), "Log::operator()");
  EXPECT_EQ(without_parameters("operator<<(std::ostream&, Log const&)"), "operator<<");
  EXPECT_EQ(without_parameters("std::ostream& std::operator<< <char>(std::ostream&, char)"), "std::operator<<<char>");
  EXPECT_EQ(without_parameters("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(without_parameters("Log::operator bool() const"), "Log::operator bool");
  EXPECT_EQ(without_parameters("Log::operator->()"), "Log::operator->");
  EXPECT_EQ(without_parameters("operators::run()"), "operators::run");
}

TEST(FunctionName, SpellsLambdasAlikeForAllCompilers) {
  EXPECT_EQ(without_parameters("main::{lambda(int)#1}::operator()(int) const"), "main::{lambda}");
  EXPECT_EQ(without_parameters("run(int)::{lambda()#2}::operator()() const"), "run::{lambda}");
  EXPECT_EQ(without_parameters("main::$_0::operator()(int) const"), "main::{lambda}");
  EXPECT_EQ(without_parameters("Log::write() const::{lambda()#1}::operator()() const"), "Log::write::{lambda}");
}

TEST(FunctionName, ShortensLongTemplateArguments) {
  EXPECT_EQ(without_parameters("void run<std::map<std::string, std::vector<std::string> > >(int)"), "run<...>");
}

TEST(FunctionName, IsDemangled) {
  EXPECT_EQ(name_of_symbol("_ZN5store3Log5batchEi"), "store::Log::batch");
  EXPECT_EQ(name_of_symbol("write@@GLIBC_2.2.5"), "write");
  EXPECT_EQ(name_of_symbol("copy.constprop.0"), "copy");
  EXPECT_EQ(name_of_symbol("_Znonsense"), "_Znonsense");
}

TEST(FunctionName, TakesAnyText) {
  for (const char* text :
       {"", "(", ")", "<", ">", "{", "'", "operator", "a<b", "f(", "{lambda(", "$_", "[abi:", " ", "()"}) {
    without_parameters(text);
    name_of_symbol(text);
  }
}

}  // namespace
}  // namespace syscost::symbols
