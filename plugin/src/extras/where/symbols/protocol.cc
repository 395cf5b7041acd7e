// SPDX-License-Identifier: MIT
#include "extras/where/symbols/protocol.h"

#include <algorithm>
#include <cstring>

namespace syscost::symbols {
namespace {

template <class Number>
void put_number(std::pmr::string& message, Number number) {
  message.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put_text(std::pmr::string& message, std::string_view text) {
  text = text.substr(0, kMaxTextBytes);
  put_number(message, static_cast<std::uint32_t>(text.size()));
  message.append(text);
}

/// Reserves the place of a length, and fills it at the end.
class Envelope {
 public:
  explicit Envelope(std::pmr::string& message) : message_(message), begin_(message.size()) {
    put_number(message_, std::uint32_t{0});
  }
  ~Envelope() {
    const auto size = static_cast<std::uint32_t>(message_.size() - begin_ - sizeof(std::uint32_t));
    std::memcpy(message_.data() + begin_, &size, sizeof size);
  }
  Envelope(const Envelope&) = delete;
  Envelope& operator=(const Envelope&) = delete;

 private:
  std::pmr::string& message_;
  std::size_t begin_;
};

/// Takes values off the front of a message. After the first that is not there, only zeros.
class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  bool is_whole() const { return !has_failed_ && rest_.empty(); }
  bool has_failed() const { return has_failed_; }
  std::size_t size() const { return rest_.size(); }

  template <class Number>
  Number number() {
    Number value{};
    if (rest_.size() < sizeof value) {
      has_failed_ = true;
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view text() {
    const auto size = number<std::uint32_t>();
    if (has_failed_ || size > kMaxTextBytes || size > rest_.size()) {
      has_failed_ = true;
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

 private:
  std::string_view rest_;
  bool has_failed_ = false;
};

}  // namespace

void put_question(std::pmr::string& message, std::string_view path, std::string_view build_id,
                  std::span<const Address> addresses) {
  const Envelope envelope(message);
  put_text(message, path);
  put_text(message, build_id);
  put_number(message, static_cast<std::uint32_t>(addresses.size()));
  for (const Address& address : addresses) {
    put_number(message, address.offset);
    put_number(message, static_cast<std::uint8_t>(address.is_exact));
  }
}

bool take_question(std::string_view body, Question& question) {
  Reader in(body);
  question.path = in.text();
  question.build_id = in.text();
  const auto count = in.number<std::uint32_t>();
  if (in.has_failed() || count > kMaxAddresses) return false;
  question.addresses.resize(count);
  for (Address& address : question.addresses) {
    address.offset = in.number<std::uint64_t>();
    address.is_exact = in.number<std::uint8_t>() != 0;
  }
  return in.is_whole();
}

void put_answer(std::pmr::string& message, const Answer& answer) {
  const Envelope envelope(message);
  put_text(message, answer.reason);
  put_number(message, static_cast<std::uint32_t>(answer.places.size()));
  for (const Place& place : answer.places) {
    const auto frames = static_cast<std::uint32_t>(std::min<std::size_t>(place.frames.size(), kMaxFrames));
    put_number(message, static_cast<std::uint8_t>(place.is_signal_frame));
    put_number(message, frames);
    for (std::uint32_t i = 0; i < frames; ++i) {
      const SourceFrame& frame = place.frames[i];
      put_text(message, frame.function);
      put_text(message, frame.file);
      put_number(message, frame.line);
      put_number(message, frame.first_line);
    }
  }
}

bool take_answer(std::string_view body, std::size_t count, Answer& answer) {
  Reader in(body);
  answer.reason = in.text();
  answer.places.clear();
  const auto places = in.number<std::uint32_t>();
  if (in.has_failed() || places != (answer.reason.empty() ? count : 0)) return false;
  std::pmr::memory_resource* const memory = answer.places.get_allocator().resource();
  answer.places.reserve(places);
  for (std::uint32_t i = 0; i < places && !in.has_failed(); ++i) {
    Place& place = answer.places.emplace_back(memory);
    place.is_signal_frame = in.number<std::uint8_t>() != 0;
    const auto frames = in.number<std::uint32_t>();
    if (frames > kMaxFrames) return false;
    for (std::uint32_t j = 0; j < frames && !in.has_failed(); ++j) {
      SourceFrame& frame = place.frames.emplace_back(memory);
      frame.function = in.text();
      frame.file = in.text();
      frame.line = in.number<std::uint32_t>();
      frame.first_line = in.number<std::uint32_t>();
    }
  }
  return in.is_whole();
}

}  // namespace syscost::symbols
