// SPDX-License-Identifier: MIT
#include "agent/find/overridden.h"

#include <algorithm>
#include <cstddef>

namespace syscost::agent {

namespace {

const Worlds* g_worlds = nullptr;

}  // namespace

void set_worlds(const Worlds& worlds) {
  g_worlds = &worlds;
}

const Worlds* worlds() {
  return g_worlds;
}

void Overridden::keep(const Vtable& vtable) {
  const auto is_its = [&](const Table& table) { return table.slots == vtable.slots; };
  if (std::none_of(tables_.begin(), tables_.end(), is_its)) {
    tables_.push_back({vtable.slots, std::vector<std::uintptr_t>(vtable.slots, vtable.slots + vtable.count)});
  }
}

bool Overridden::put_in(const Modules& modules, const Vtable& vtable, int slot, std::uintptr_t function) {
  keep(vtable);
  return put(modules, vtable.slots + slot, worlds() != nullptr ? worlds()->entrance(function) : function);
}

bool Overridden::put_before(const Modules& modules, const Vtable& vtable, int slot, std::uintptr_t seen) {
  keep(vtable);
  return put(modules, vtable.slots + slot, worlds()->entrance_before(seen, vtable.slots[slot]));
}

std::uintptr_t Overridden::original(const void* object, int slot) const {
  const auto* const slots = *static_cast<const std::uintptr_t* const*>(object);
  const auto table = std::find_if(tables_.begin(), tables_.end(), [&](const Table& one) { return one.slots == slots; });
  return table->original[static_cast<std::size_t>(slot)];
}

}  // namespace syscost::agent
