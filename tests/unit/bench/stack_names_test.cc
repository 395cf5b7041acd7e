// SPDX-License-Identifier: MIT
//
// Call stacks of a trace, read from the bytes in which it names them.
#include "trace/trace_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::trace {
namespace {

/// Fields of a message whose numbers and sizes are below 128.
std::string number(std::uint32_t field, char value) {
  std::string bytes;
  if (field >= 16)
    return bytes.append({static_cast<char>(0x80 | ((field << 3) & 0x7f)), static_cast<char>(field >> 4), value});
  return bytes.append({static_cast<char>(field << 3), value});
}

std::string text(std::uint32_t field, std::string_view value) {
  return std::string({static_cast<char>(field << 3 | 2), static_cast<char>(value.size())}).append(value);
}

Field entry(std::uint32_t number, const std::string& bytes) {
  Field field;
  field.number = number;
  field.is_bytes = true;
  field.bytes = bytes;
  return field;
}

TEST(StackNames, ReadsFunctionsFilesAndModules) {
  const std::vector<std::string> bytes = {
      number(1, 1) + text(2, "Log::batch"),                                      // a function
      number(1, 1) + text(2, "src/log.cc"),                                      // a file of source
      number(1, 1) + text(2, "/opt/program"),                                    // a path
      number(1, 1) + number(7, 1),                                               // a module
      number(1, 7) + number(2, 1) + number(3, 1) + number(4, 9) + number(5, 1),  // a frame
      number(1, 8),                                                              // and one that nothing is known of
      number(1, 5) + number(2, 7) + number(2, 8),                                // a stack
  };
  const std::vector<std::uint32_t> fields = {5, 18, 17, 19, 6, 6, 7};
  StackNames names;
  TraceFile trace;
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_TRUE(names.take(entry(fields[i], bytes[i]), trace)) << i;
  ASSERT_EQ(trace.frames.size(), 2U);
  EXPECT_EQ(trace.frames[0].function, "Log::batch");
  EXPECT_EQ(trace.frames[0].source, "src/log.cc");
  EXPECT_EQ(trace.frames[0].module, "/opt/program");
  EXPECT_EQ(trace.frames[0].offset, 9U);
  EXPECT_EQ(trace.frames[1].function, "");
  ASSERT_EQ(names.place_of(5), 1U);
  EXPECT_EQ(trace.stacks[1], (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(names.place_of(6), 0U);
  names.forget();
  EXPECT_EQ(names.place_of(5), 0U);
}

TEST(StackNames, RefusesWhatIsDamaged) {
  StackNames names;
  TraceFile trace;
  const std::string unknown = number(1, 5) + number(2, 7);
  EXPECT_FALSE(names.take(entry(7, unknown), trace));
  const std::string cut = text(2, "Log::batch").substr(0, 5);
  for (const std::uint32_t field : {5, 6, 7, 17, 18, 19}) EXPECT_FALSE(names.take(entry(field, cut), trace)) << field;
  EXPECT_EQ(names.place_of(5), 0U);
  EXPECT_TRUE(names.take(entry(2, cut), trace));  // none of its fields
}

}  // namespace
}  // namespace syscost::bench::trace
