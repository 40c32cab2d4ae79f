# Has the installed command write its two projects, builds them with the installed library, and runs their tests.
# cmake -DPREFIX=DIRECTORY -DBINARY=DIRECTORY -DCOMPILER=PATH -DGENERATOR=NAME -P new.cmake
file(REMOVE_RECURSE ${BINARY})
foreach(option "" --cuda)
  set(project ${BINARY}/project${option})
  execute_process(COMMAND ${PREFIX}/bin/warpmat new ${option} ${project} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE next)
  if(NOT next MATCHES "\n  cmake -S [^\n]* -DCMAKE_PREFIX_PATH=([^\n]+)\n")  # what the command prints is what is done here
    message(FATAL_ERROR "the next commands do not name the installation: ${next}")
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${project} -B ${project}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${CMAKE_MATCH_1}
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${project}/build COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${project}/build/kernel_tests COMMAND_ERROR_IS_FATAL ANY)
endforeach()
