# Installs the build into a fresh prefix, so that a file that is no longer installed does not linger from last time.
file(REMOVE_RECURSE "${PREFIX}")
# After a build of one target a part of what is installed is not built; the install has to build it. Of Google Benchmark it may be left out.
set(archive "${BUILD}/lib/libsyscost_benchmark_main.a")
set(removed OFF)
if(EXISTS "${archive}")
  file(REMOVE "${archive}")
  set(removed ON)
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${PREFIX}" --config "${CONFIG}"
                RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "cmake --install failed")
endif()
if(removed AND NOT EXISTS "${archive}")
  message(FATAL_ERROR "cmake --install did not build ${archive}, which was missing")
endif()
