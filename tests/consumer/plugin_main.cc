// SPDX-License-Identifier: MIT
//
// plugin_main PLUGIN...: a program that measures and loads plug-ins that do too. It prints which files of the name
// libsyscost.so.0 are mapped: each is a library with counts of its own.
#include <dlfcn.h>
#include <syscost/syscost.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>

int main(int argc, char** argv) {
  int cycles = syscost::cycles(7);
  for (int i = 1; i < argc; ++i) {
    void* const plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 3;
    cycles += reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_cycles"))();
  }
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/libsyscost.so.0") != std::string::npos) files.insert(line.substr(line.find('/')));
  }
  for (const std::string& file : files) std::puts(file.c_str());
  return cycles == 7 + 5 * (argc - 1) ? 0 : 4;
}
