// SPDX-License-Identifier: MIT
#include "csv/sink.h"

#include <gtest/gtest.h>

#include "csv/row.h"
#include "syscost/schema.h"

namespace syscost::csv {
namespace {

std::string reason_for(std::string_view text) {
  Result<HeaderState> state = check_header_text(text, "out.csv");
  return state.ok() ? "" : state.failure().reason;
}

TEST(HeaderCheck, WantsTheWholeHeaderInAnEmptyFile) {
  EXPECT_EQ(check_header_text("", "out.csv").value().missing, header_line());
}

TEST(HeaderCheck, WantsNothingInAFileOfOurs) {
  EXPECT_EQ(check_header_text(header_line() + "1,row", "out.csv").value().missing, "");
}

TEST(HeaderCheck, CompletesAHeaderThatACrashTore) {
  std::string_view torn = std::string_view(header_line()).substr(0, 20);
  EXPECT_EQ(check_header_text(torn, "out.csv").value().missing, header_line().substr(20));
}

TEST(HeaderCheck, SaysThatAForeignFileIsNotOurs) {
  EXPECT_EQ(reason_for("name,value\n1,2\n"), "out.csv is not a syscost CSV: it begins with \"name,value\"");
  EXPECT_NE(reason_for("#!/bin/sh\n").find("is not a syscost CSV"), std::string::npos);
  EXPECT_NE(reason_for("\n").find("is not a syscost CSV"), std::string::npos);
}

TEST(HeaderCheck, NamesTheFirstColumnThatDiffers) {
  std::string other = header_line();
  other.replace(other.find("label"), 5, "title");
  EXPECT_EQ(reason_for(other),
            "out.csv is a CSV of another syscost version: its column 4 is \"title\", this version (schema " +
                std::to_string(schema::kSchemaVersion) + ") writes \"label\" there");
}

TEST(HeaderCheck, SaysWhenThereAreMoreColumnsThanOurs) {
  std::string longer = header_line();
  longer.insert(longer.size() - 1, ",more");
  EXPECT_NE(reason_for(longer).find("it has more than our"), std::string::npos) << reason_for(longer);
}

}  // namespace
}  // namespace syscost::csv
