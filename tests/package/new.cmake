# Has the installed command write a project, builds that with the installed library, and runs its tests.
# cmake -DPREFIX=DIRECTORY -DBINARY=DIRECTORY -DCOMPILER=PATH -DGENERATOR=NAME -P new.cmake
file(REMOVE_RECURSE ${BINARY})
execute_process(COMMAND ${PREFIX}/bin/warpmat new ${BINARY} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${BINARY} -B ${BINARY}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${PREFIX}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${BINARY}/build/kernel_tests COMMAND_ERROR_IS_FATAL ANY)
