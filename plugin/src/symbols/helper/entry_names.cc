// SPDX-License-Identifier: MIT
#include "symbols/helper/entry_names.h"

#include <dwarf.h>

#include <cstdlib>

#include "symbols/helper/function_name.h"

namespace syscost::symbols {
namespace {

/// Nothing real is deeper. A hostile file may be.
constexpr int kMostScopes = 100;

bool is_scope(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
    case DW_TAG_subprogram:
    case DW_TAG_module:
      return true;
    default:
      return false;
  }
}

}  // namespace

/// The name of `die`, a function, from the scopes around its declaration. Functions that other files cannot call have
/// no linkage name in g++'s debug information.
std::string EntryNames::scoped_name(Dwarf_Die die, int depth) {
  if (depth > kMostScopes) return {};
  for (int i = 0; i < kMostScopes; ++i) {
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    Dwarf_Attribute* found = dw_.dwarf_attr(&die, DW_AT_abstract_origin, &attribute);
    if (found == nullptr) found = dw_.dwarf_attr(&die, DW_AT_specification, &attribute);
    if (found == nullptr || dw_.dwarf_formref_die(found, &origin) == nullptr) break;
    die = origin;
  }
  const Dwarf_Off key = dw_.dwarf_dieoffset(&die);
  if (const auto known = names_.find(key); known != names_.end()) return known->second;
  const char* own = dw_.dwarf_diename(&die);
  std::string name = own != nullptr ? without_parameters(own) : std::string();
  Dwarf_Die* scopes = nullptr;
  const int count = dw_.dwarf_getscopes_die(&die, &scopes);
  for (int i = 1; i < count && !name.empty(); ++i) {
    const int tag = dw_.dwarf_tag(&scopes[i]);
    if (!is_scope(tag)) continue;
    if (tag == DW_TAG_subprogram) {
      const std::string outer = scoped_name(scopes[i], depth + 1);
      if (!outer.empty()) name.insert(0, outer + "::");
      break;
    }
    const char* scope = dw_.dwarf_diename(&scopes[i]);
    const std::string text = scope != nullptr          ? without_parameters(name_of_class(scope))
                             : tag == DW_TAG_namespace ? "(anonymous namespace)"
                             : name == "operator()"    ? "{lambda}"
                                                       : "{unnamed}";
    // The class says it all: `main::{lambda}`.
    name = text == "{lambda}" && name == "operator()" ? text : text + "::" + name;
  }
  std::free(scopes);
  return names_[key] = name;
}

std::string EntryNames::name_of(Dwarf_Die& die, const std::string& symbol) {
  Dwarf_Attribute attribute;
  for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (const char* name = dw_.dwarf_formstring(dw_.dwarf_attr_integrate(&die, kind, &attribute)); name != nullptr) {
      return name_of_symbol(name);
    }
  }
  std::string scoped = scoped_name(die, 0);
  // With little debug information (-g1) there are no scopes, but the symbol has them.
  if (symbol.size() > scoped.size() && symbol.ends_with("::" + scoped)) return symbol;
  return scoped.empty() ? symbol : scoped;
}

}  // namespace syscost::symbols
