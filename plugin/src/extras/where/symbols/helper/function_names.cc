// SPDX-License-Identifier: MIT
#include "extras/where/symbols/helper/function_names.h"

#include <cxxabi.h>
#include <dwarf.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace syscost::symbols {
namespace {

constexpr std::size_t kLongestTemplateArguments = 40;
/// The demangler's time and memory can grow fast with a hostile name.
constexpr std::size_t kLongestSymbol = 8192;
constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";
constexpr std::string_view kLambda = "{lambda}";

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

/// The position after the bracket that closes the one at `begin`; the end if there is none.
std::size_t after_closing(std::string_view text, std::size_t begin, char open, char close) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    // An arrow and an operator hold no brackets.
    if (open == '<' && i > 0 && text[i] == '>' && text[i - 1] == '-') continue;
    if (text[i] == '(' && open == '<') {
      i = after_closing(text, i, '(', ')') - 1;
      continue;
    }
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return i + 1;
  }
  return text.size();
}

/// Copies `operator<<`, `operator()`, `operator->`, `operator new[]`, `operator bool` from the front of `text`, which
/// begins with `operator`.
std::size_t copy_operator(std::string_view text, std::string& name) {
  std::size_t end = kOperator.size();
  if (text.substr(end).starts_with("()")) {
    end += 2;
  } else if (end < text.size() && (text[end] == ' ' || text[end] == '"')) {
    // A conversion's type, new and delete, or a literal's suffix: up to the parameters.
    while (end < text.size() && text[end] != '(') {
      if (text[end] == '<') {
        end = after_closing(text, end, '<', '>');
      } else {
        ++end;
      }
    }
  } else {
    while (end < text.size() && std::string_view("<>=!+-*/%^&|~,[]").find(text[end]) != std::string_view::npos) ++end;
    // The last `<` of `operator< <int>` begins arguments; g++ and clang write a space between them.
  }
  name += text.substr(0, end);
  return end;
}

/// `text` without the parts that stand after the parameters: ` const`, ` &&`, ` [clone .cold]`.
std::string_view without_clone(std::string_view text) {
  const std::size_t clone = text.find(" [clone ");
  return clone == std::string_view::npos ? text : text.substr(0, clone);
}

bool ends_scope(std::string_view name) {
  return name.empty() || name.ends_with("::");
}

}  // namespace

std::string name_of_class(std::string_view name) {
  const bool is_lambda = name.starts_with("<lambda") || name.starts_with("{lambda") || name.starts_with("'lambda") ||
                         (name.starts_with("$_") && name.size() > 2);
  return std::string(is_lambda ? kLambda : name);
}

std::string without_parameters(std::string_view demangled) {
  const std::string_view text = without_clone(demangled);
  std::string name;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with(kAnonymous)) {
      name += kAnonymous;
      i += kAnonymous.size();
    } else if (rest.starts_with(kOperator) && (i == 0 || !is_of_name(text[i - 1])) &&
               (rest.size() == kOperator.size() || !is_of_name(rest[kOperator.size()]))) {
      i += copy_operator(rest, name);
    } else if (rest.front() == '(') {
      i = after_closing(text, i, '(', ')');
      // Only the parameters of an enclosing function have a scope after them. Else the name is complete. A function
      // that returns a pointer to a function is written around its name; there the name is inside.
      while (text.substr(i).starts_with(" const") || text.substr(i).starts_with(" volatile")) {
        i += text[i + 1] == 'c' ? 6 : 9;
      }
      if (name == "decltype") continue;  // of the return type
      if (!text.substr(i).starts_with("::")) break;
    } else if (rest.front() == '{' || rest.front() == '\'') {
      // `{lambda(int)#1}`, `{unnamed type#1}`, `'lambda'(int)`.
      const bool is_brace = rest.front() == '{';
      const std::size_t end =
          is_brace ? after_closing(text, i, '{', '}') : std::min(text.find('\'', i + 1), text.size() - 1) + 1;
      const std::string_view part = text.substr(i, end - i);
      if (name_of_class(part) == kLambda) {
        name += kLambda;
      } else {
        name += part.substr(0, part.find('#'));
        if (part.find('#') != std::string_view::npos) name += '}';
      }
      i = end;
    } else if (rest.front() == '<') {
      const std::size_t end = after_closing(text, i, '<', '>');
      const std::string_view arguments = text.substr(i, end - i);
      if (arguments.starts_with("<lambda")) {
        name += kLambda;
      } else {
        name += arguments.size() > kLongestTemplateArguments ? std::string_view("<...>") : arguments;
      }
      i = end;
    } else if (rest.front() == '$' && ends_scope(name) && rest.starts_with("$_")) {
      name += kLambda;
      i += 2;
      while (i < text.size() && is_of_name(text[i])) ++i;
    } else if (rest.starts_with(" <")) {
      ++i;  // `operator<< <char>`
    } else if (rest.front() == ' ') {
      // The text before it is the return type.
      name.clear();
      ++i;
    } else if (rest.front() == '[' && rest.starts_with("[abi:")) {
      i = after_closing(text, i, '[', ']');
    } else {
      name += rest.front();
      ++i;
    }
  }
  // `main::{lambda}::operator()`: the class says it all.
  constexpr std::string_view kCall = "{lambda}::operator()";
  if (const std::size_t at = name.rfind(kCall); at != std::string::npos) {
    name.erase(at + kLambda.size(), kCall.size() - kLambda.size());
    if (name.ends_with('>')) name.erase(at + kLambda.size());
  }
  return name.empty() ? std::string(demangled) : name;
}

std::string name_of_symbol(std::string_view symbol) {
  // `foo@@GLIBC_2.2`: a version is no part of the name.
  symbol = symbol.substr(0, symbol.find('@'));
  if (!symbol.starts_with("_Z") || symbol.size() > kLongestSymbol) {
    // `copy.constprop.0`, `run.cold`: parts that the compiler split off.
    const std::size_t dot = symbol.find('.');
    return std::string(dot == 0 ? symbol : symbol.substr(0, dot));
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), &std::free);
  return demangled == nullptr ? std::string(symbol) : without_parameters(demangled.get());
}

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
