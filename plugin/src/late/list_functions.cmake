# Writes SYSCOST_STUB(name) for each function that libsyscost.so shows, by its linker's name, in an order that does not change.
#
# cmake -DNM=nm -DLIBRARY=libsyscost.so -DOUTPUT=functions.inc -P list_functions.cmake
execute_process(COMMAND "${NM}" -D --defined-only "${LIBRARY}" OUTPUT_VARIABLE symbols RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${NM} does not list the symbols of ${LIBRARY}: ${result}")
endif()
string(REGEX MATCHALL "[0-9a-f]+ T [^\n@]+" symbols "${symbols}")
list(TRANSFORM symbols REPLACE "^[0-9a-f]+ T (.*)$" "SYSCOST_STUB(\\1)")
list(SORT symbols)
list(JOIN symbols "\n" symbols)
if(symbols STREQUAL "")
  message(FATAL_ERROR "${LIBRARY} shows no function")
endif()
file(WRITE "${OUTPUT}.new" "// Each function of libsyscost.so; made by late/list_functions.cmake.\n${symbols}\n")
execute_process(COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${OUTPUT}.new" "${OUTPUT}")
