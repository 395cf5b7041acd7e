# Installs the build into a fresh prefix, so that a file that is no longer installed does not linger from last time.
file(REMOVE_RECURSE "${PREFIX}")
execute_process(COMMAND ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${PREFIX}" --config "${CONFIG}"
                RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "cmake --install failed; is everything built? cmake --build ${BUILD}")
endif()
