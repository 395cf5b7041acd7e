// SPDX-License-Identifier: MIT
//
// Reads messages of protobuf, field by field: a trace has a dozen kinds of fields, which need no library.
// https://protobuf.dev/programming-guides/encoding describes the format.
#pragma once

#include <cstdint>
#include <string_view>

namespace syscost::bench::trace {

struct Field {
  std::uint32_t number = 0;
  bool is_bytes = false;
  std::uint64_t value = 0;  ///< A number's.
  std::string_view bytes;   ///< A text's or a message's.
};

class Message {
 public:
  /// `bytes` must outlive it, and the fields.
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  /// Takes the next field. False at the end, and where the bytes are no protobuf.
  bool next(Field& field);
  bool is_broken() const { return is_broken_; }

 private:
  bool take_number(std::uint64_t& value);
  bool take_bytes(std::uint64_t size, std::string_view& bytes);

  std::string_view rest_;
  bool is_broken_ = false;
};

}  // namespace syscost::bench::trace
