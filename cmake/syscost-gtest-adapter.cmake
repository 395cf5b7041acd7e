# Builds syscost::gtest and syscost::gtest_main, in the build that includes this, against the GoogleTest that build uses.
#
# syscost_add_gtest_adapter(SOURCE_DIR folder SOURCES file... MAIN_SOURCES file...) defines, with `folder` as the include
# root of the adapter's own headers, the targets syscost_gtest and syscost_gtest_main and their aliases.
#
# The registration is a static object in an archive nobody refers to. A linker would leave it out without a word, and
# the tests would run unmeasured; `-u` makes it an undefined symbol of the final program, and as an interface option it
# travels through the consumer's own INTERFACE and STATIC helper libraries, where an object library would be lost.
#
# Works with CMake 3.16, as everything a consumer's build sees.

# Sets `result` to the target of the GoogleTest that this build uses, looking for an installed one only when the build
# has none. Old CMake names its target GTest::GTest, an old GoogleTest added by add_subdirectory plain gtest.
macro(syscost_find_gtest result)
  set(${result} "")
  if(NOT TARGET GTest::gtest AND NOT TARGET gtest AND NOT TARGET GTest::GTest)
    find_package(GTest QUIET)
  endif()
  foreach(syscost_candidate GTest::gtest gtest GTest::GTest)
    if(TARGET ${syscost_candidate})
      set(${result} ${syscost_candidate})
      break()
    endif()
  endforeach()
endmacro()

function(syscost_add_gtest_adapter)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_DIR;GTEST" "SOURCES;MAIN_SOURCES")
  set(sources "")
  set(main_sources "")
  foreach(source IN LISTS arg_SOURCES)
    list(APPEND sources "${arg_SOURCE_DIR}/${source}")
  endforeach()
  foreach(source IN LISTS arg_MAIN_SOURCES)
    list(APPEND main_sources "${arg_SOURCE_DIR}/${source}")
  endforeach()

  add_library(syscost_gtest STATIC EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(syscost_gtest PUBLIC syscost::syscost ${arg_GTEST})
  target_link_options(syscost_gtest INTERFACE LINKER:-u,syscost_gtest_registration)
  add_library(syscost_gtest_main STATIC EXCLUDE_FROM_ALL ${main_sources})
  target_link_libraries(syscost_gtest_main PUBLIC syscost_gtest)

  foreach(target syscost_gtest syscost_gtest_main)
    target_include_directories(${target} PRIVATE "${arg_SOURCE_DIR}")
    target_compile_features(${target} PRIVATE cxx_std_17)
    # Not this build's code: its warnings and checkers have no say, its -Werror must not break.
    target_compile_options(${target} PRIVATE -w)
    set_target_properties(${target} PROPERTIES
      POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF
      CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_CPPLINT "" CXX_INCLUDE_WHAT_YOU_USE ""
      ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/syscost")
  endforeach()
  add_library(syscost::gtest ALIAS syscost_gtest)
  add_library(syscost::gtest_main ALIAS syscost_gtest_main)
endfunction()
