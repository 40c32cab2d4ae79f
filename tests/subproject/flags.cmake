# Configures the project of this folder with a parent's fast-math and unsigned char, and checks that every file of the library is compiled without.
# cmake -DBINARY=DIRECTORY -DGENERATOR=NAME -DCOMPILER=PATH -DFETCH=BOOL -P flags.cmake
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${BINARY} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
                        -DFETCH=${FETCH} -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS=-ffast-math -funsigned-char" -DCMAKE_CXX_FLAGS_RELEASE=-Ofast
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
file(READ ${BINARY}/compile_commands.json commands)
string(JSON count LENGTH "${commands}")
set(checked 0)
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
  string(JSON file GET "${commands}" ${index} file)
  string(JSON command GET "${commands}" ${index} command)
  if(file MATCHES "/emulator/")
    if(NOT command MATCHES "-ffast-math -funsigned-char .*-Ofast .*-fno-fast-math -ffp-contract=off -fsigned-char -fno-rounding-math -fexceptions ")
      message(FATAL_ERROR "the parent's flags reach ${file}: ${command}")
    endif()
    math(EXPR checked "${checked} + 1")
  endif()
endforeach()
if(checked LESS 20)
  message(FATAL_ERROR "only ${checked} files of the library found in ${BINARY}/compile_commands.json")
endif()
