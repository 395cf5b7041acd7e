# Builds an adapter in the build that includes this: the common part of syscost-gtest-adapter.cmake,
# syscost-benchmark-adapter.cmake and syscost-bodies-adapters.cmake, which know what is particular to a framework.
#
# syscost_add_adapter(NAME SOURCE_DIR folder [FRAMEWORK target] LINK_OPTIONS option... SOURCES file... [MAIN_SOURCES file...])
# defines the targets syscost_NAME and, where it has a main, syscost_NAME_main, and their aliases.
#
# Works with CMake 3.16, as everything a consumer's build sees.

cmake_policy(VERSION 3.16...3.25)  # of what this file defines, however old the project is

# syscost_own_language(TARGET STANDARD): TARGET is compiled as C++ of that standard, or of a newer one where the build is.
# That is its affair: what links it keeps its own language.
function(syscost_own_language target standard)
  if(CMAKE_CXX_STANDARD AND CMAKE_CXX_STANDARD GREATER standard AND CMAKE_CXX_STANDARD LESS 90)
    set(standard ${CMAKE_CXX_STANDARD})
  endif()
  set_target_properties(${target} PROPERTIES CXX_STANDARD ${standard} CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  # One that the project wrote into its options by hand stands after the one of the property, and would win.
  get_directory_property(options COMPILE_OPTIONS)
  if("${CMAKE_CXX_FLAGS} ${options}" MATCHES "-std=")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-std=c++${standard}>)
  endif()
endfunction()

function(syscost_add_adapter name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE_DIR;FRAMEWORK" "LINK_OPTIONS;SOURCES;MAIN_SOURCES")
  set(sources "")
  set(main_sources "")
  foreach(source IN LISTS arg_SOURCES)
    list(APPEND sources "${arg_SOURCE_DIR}/${source}")
  endforeach()
  foreach(source IN LISTS arg_MAIN_SOURCES)
    list(APPEND main_sources "${arg_SOURCE_DIR}/${source}")
  endforeach()

  add_library(syscost_${name} STATIC EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(syscost_${name} PUBLIC syscost::syscost ${arg_FRAMEWORK})
  target_link_options(syscost_${name} INTERFACE ${arg_LINK_OPTIONS})
  set(targets syscost_${name})
  if(main_sources)
    add_library(syscost_${name}_main STATIC EXCLUDE_FROM_ALL ${main_sources})
    target_link_libraries(syscost_${name}_main PUBLIC syscost_${name})
    add_library(syscost::${name}_main ALIAS syscost_${name}_main)
    list(APPEND targets syscost_${name}_main)
  endif()

  foreach(target IN LISTS targets)
    target_include_directories(${target} PRIVATE "${arg_SOURCE_DIR}")
    syscost_own_language(${target} 17)
    # Not this build's code: its warnings and checkers have no say, its -Werror must not break.
    target_compile_options(${target} PRIVATE -w)
    # Compiled as one file, so that the framework's headers are read once.
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0
      POSITION_INDEPENDENT_CODE ON
      CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_CPPLINT "" CXX_INCLUDE_WHAT_YOU_USE ""
      ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/syscost")
  endforeach()
  add_library(syscost::${name} ALIAS syscost_${name})
endfunction()
