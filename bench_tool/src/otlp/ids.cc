// SPDX-License-Identifier: MIT
#include "otlp/ids.h"

#include <fmt/format.h>

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid.hpp>
#include <cstddef>

namespace syscost::bench::otlp {
namespace {

/// A random UUID: the name space of our ids, so that they differ from those that others make of the same text.
constexpr boost::uuids::uuid kNameSpace = {
    {0x8d, 0x1f, 0x5c, 0x0e, 0x6b, 0x27, 0x4e, 0x93, 0xa2, 0x14, 0x77, 0xc9, 0x30, 0xee, 0x58, 0x6d}};

boost::uuids::uuid uuid_of(std::string_view name) {
  return boost::uuids::name_generator_sha1(kNameSpace)(name.data(), name.size());
}

}  // namespace

std::string key_of(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) {
    key += part;
    key += '\0';
  }
  return key;
}

std::string trace_id_of(std::string_view run_id) {
  std::string id;
  for (const std::uint8_t byte : uuid_of(key_of({"trace", run_id}))) id += fmt::format("{:02x}", byte);
  return id;
}

std::string span_id_of(std::string_view key) {
  const boost::uuids::uuid uuid = uuid_of(key_of({"span", key}));
  std::string id;
  // Bytes 6 and 8 hold the UUID's version and variant, which are the same in all.
  for (const std::size_t at : {0, 1, 2, 3, 4, 5, 7, 9}) id += fmt::format("{:02x}", uuid.begin()[at]);
  return id;
}

}  // namespace syscost::bench::otlp
