# syscost_add_late(TARGET FOLDER LIBRARY): TARGET is the archive that programs link for libsyscost.so, of the sources in
# FOLDER; LIBRARY is the file that it loads, empty = the loader is to find it.
#
# Works with CMake 3.16, as everything a consumer's build sees.
cmake_policy(VERSION 3.16...3.25)  # of what this file defines, however old the project is

include("${CMAKE_CURRENT_LIST_DIR}/syscost-adapter.cmake")

function(syscost_add_late target folder library)
  add_library(${target} STATIC EXCLUDE_FROM_ALL "${folder}/late.cc" "${folder}/early.cc" "${folder}/faults.cc"
                                              "${folder}/stand_ins.cc"
                                              "${folder}/adapter_stand_ins.cc")
  # Of its archive, a program takes the members that it needs: each file is one, also where a project builds in unity.
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  syscost_own_language(${target} 17)
  # Assembler text: link-time optimisation does not see the names in it.
  target_compile_options(${target} PRIVATE -fno-lto)
  target_compile_definitions(${target} PRIVATE SYSCOST_LIBRARY_FILE="${library}")
  target_link_libraries(${target} INTERFACE ${CMAKE_DL_LIBS})
  # Each program and each shared library keeps its copy to itself.
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                                             POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF
                                             CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_CPPLINT "" CXX_INCLUDE_WHAT_YOU_USE "")
endfunction()
