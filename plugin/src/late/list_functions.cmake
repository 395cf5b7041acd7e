# Writes SYSCOST_STUB(name, stand_in) for each function that libsyscost.so shows, by its linker's name, in an order that does
# not change: FOLDER/functions.inc has what the adapters call, FOLDER/early_functions.inc what only users do, and
# FOLDER/fault_functions.inc what only users do that let calls fail. The stand-in
# has the same name in namespace syscost_absent (absent.h).
#
# cmake -DNM=nm -DLIBRARY=libsyscost.so -DFOLDER=late -P list_functions.cmake
execute_process(COMMAND "${NM}" -D --defined-only "${LIBRARY}" OUTPUT_VARIABLE symbols RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${NM} does not list the symbols of ${LIBRARY}: ${result}")
endif()
string(REGEX MATCHALL "[0-9a-f]+ T [^\n@]+" symbols "${symbols}")
list(TRANSFORM symbols REPLACE "^[0-9a-f]+ T " "")
list(FILTER symbols EXCLUDE REGEX "^_ZN7syscost7outside") # for `bench run`, which links the library itself
list(SORT symbols)
if(symbols STREQUAL "")
  message(FATAL_ERROR "${LIBRARY} shows no function")
endif()
# Adapters end a Scope of their own, and read a Cost; users begin with another function.
set(of_adapters "${symbols}")
set(scope "5Scope(C[12]ENS_5ReachENS_7adapter|D[12]Ev|4stop)")
list(FILTER of_adapters INCLUDE REGEX "_ZN7syscost7adapter|_ZN7syscost${scope}|_ZNK7syscost(4Cost|5Count)")
list(REMOVE_ITEM symbols ${of_adapters})
set(of_faults "${symbols}")
list(FILTER of_faults INCLUDE REGEX "^_ZNK?7syscost(5Fault|6Forbid|10crash_mark|12crash_detail|14failure_detail)")
list(REMOVE_ITEM symbols ${of_faults})
if(symbols STREQUAL "" OR of_adapters STREQUAL "" OR of_faults STREQUAL "")
  message(FATAL_ERROR "${LIBRARY} shows no functions for users, or none for adapters")
endif()
function(write_functions file)
  set(lines "// Functions of libsyscost.so; made by late/list_functions.cmake.\n")
  foreach(name IN LISTS ARGN)
    string(REGEX REPLACE "([^0-9])7syscost" "\\114syscost_absent" stand_in "${name}")
    string(APPEND lines "SYSCOST_STUB(${name}, ${stand_in})\n")
  endforeach()
  file(WRITE "${file}.new" "${lines}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${file}.new" "${file}")
endfunction()
write_functions("${FOLDER}/functions.inc" ${of_adapters})
write_functions("${FOLDER}/early_functions.inc" ${symbols})
write_functions("${FOLDER}/fault_functions.inc" ${of_faults})
