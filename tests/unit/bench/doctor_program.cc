// SPDX-License-Identifier: MIT
//
// A program that reaches the flag only through a shared library with a name of its own.
#include <cstdio>
#include <cstring>

const char* helper_flag();

int main(int argc, char** argv) {
  const bool is_asked = argc == 2 && std::strcmp(argv[1], helper_flag()) == 0;
  std::puts(is_asked ? "asked" : "not asked");
  return is_asked ? 0 : 1;
}
