# Builds syscost::gtest and syscost::gtest_main, in the build that includes this, against the GoogleTest that build uses.
#
# syscost_add_gtest_adapter(SOURCE_DIR folder SOURCES file... MAIN_SOURCES file...) defines, with `folder` as the include
# root of the adapter's own headers, the targets syscost_gtest and syscost_gtest_main and their aliases.
#
# The registration is a static object in an archive, and no code refers to it. A linker would silently leave it out, and
# the tests would run unmeasured. `-u` makes it an undefined symbol of the final program. As an interface option it
# passes through the consumer's own INTERFACE and STATIC helper libraries; an object library would be lost there.
#
# Works with CMake 3.16, as everything a consumer's build sees.

cmake_policy(VERSION 3.16...3.25)  # of what this file defines, however old the project is

# Sets `result` to the target of the GoogleTest that this build uses: the one that SYSCOST_GTEST_TARGET names, else one of
# the usual names; looks for an installed one only when the build has none. Old CMake names its target GTest::GTest, an old
# GoogleTest added by add_subdirectory plain gtest.
macro(syscost_find_gtest result)
  set(${result} "")
  if(SYSCOST_GTEST_TARGET)
    if(NOT TARGET ${SYSCOST_GTEST_TARGET})
      message(FATAL_ERROR "syscost: SYSCOST_GTEST_TARGET is '${SYSCOST_GTEST_TARGET}', which is no target (yet): define it \
before syscost is found or added")
    endif()
    set(${result} ${SYSCOST_GTEST_TARGET})
  else()
    if(NOT TARGET GTest::gtest AND NOT TARGET gtest AND NOT TARGET GTest::GTest)
      find_package(GTest QUIET)
    endif()
    foreach(syscost_candidate GTest::gtest gtest GTest::GTest)
      if(TARGET ${syscost_candidate})
        set(${result} ${syscost_candidate})
        break()
      endif()
    endforeach()
  endif()
endmacro()

# syscost_link_gtest(GTEST): the adapter and its main are compiled with the headers of GTEST and hand it on. A program that
# compiles GoogleTest's sources itself has its headers, and nothing to link.
function(syscost_link_gtest gtest)
  get_target_property(aliased ${gtest} ALIASED_TARGET)
  if(aliased)
    set(gtest ${aliased})
  endif()
  get_target_property(type ${gtest} TYPE)
  foreach(target syscost_gtest syscost_gtest_main)
    if(type STREQUAL "EXECUTABLE")
      target_include_directories(${target} PRIVATE $<TARGET_PROPERTY:${gtest},INCLUDE_DIRECTORIES>)
      target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:${gtest},COMPILE_DEFINITIONS>)
    else()
      target_link_libraries(${target} PUBLIC ${gtest})
    endif()
  endforeach()
  # When all of the project's targets are there. Older versions of CMake cannot wait for that.
  set_property(GLOBAL PROPERTY SYSCOST_GTEST_USED ${gtest})
  if(NOT CMAKE_VERSION VERSION_LESS 3.19)
    cmake_language(EVAL CODE
      "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL syscost_check_gtest [[${CMAKE_SOURCE_DIR}]])")
  endif()
endfunction()

# syscost_check_gtest(FOLDER): refuses a program that links the adapter beside another GoogleTest than the adapter was
# compiled for: the listener's virtual functions would be others than the ones that are called, and no linker says so.
function(syscost_check_gtest folder)
  get_property(used GLOBAL PROPERTY SYSCOST_GTEST_USED)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(NOT "${libraries}" MATCHES "(^|;)syscost(::|_)gtest(_main)?(;|$)" OR target MATCHES "^syscost_")
      continue()
    endif()
    foreach(candidate ${target} ${libraries})
      if(NOT TARGET ${candidate})
        continue()
      endif()
      get_target_property(aliased ${candidate} ALIASED_TARGET)
      if(aliased)
        set(candidate ${aliased})
      endif()
      get_target_property(type ${candidate} TYPE)
      if(candidate STREQUAL used OR type STREQUAL "INTERFACE_LIBRARY")
        continue()
      endif()
      get_target_property(sources ${candidate} SOURCES)
      if("${sources}" MATCHES "(^|[/;])gtest(-all)?\\.cc(;|$)")
        message(FATAL_ERROR "syscost: ${target} links syscost::gtest, which is compiled for the GoogleTest of target \
${used}, but its GoogleTest is compiled in target ${candidate}. Say so before syscost is found or added: \
add_...(${candidate} ...) first, then set(SYSCOST_GTEST_TARGET ${candidate})")
      endif()
    endforeach()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    syscost_check_gtest("${below}")
  endforeach()
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/syscost-adapter.cmake")

function(syscost_add_gtest_adapter)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_DIR;GTEST" "SOURCES;MAIN_SOURCES")
  syscost_add_adapter(gtest SOURCE_DIR "${arg_SOURCE_DIR}"
                      LINK_OPTIONS LINKER:-u,syscost_gtest_registration
                      SOURCES ${arg_SOURCES} MAIN_SOURCES ${arg_MAIN_SOURCES})
  syscost_link_gtest(${arg_GTEST})
endfunction()
