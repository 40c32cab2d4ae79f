# Runs PROGRAM, which asks the tables alone, and looks for the arithmetic in it: kernels, execute functions, steps of a matrix unit.
# cmake -DNM=PATH -DPROGRAM=FILE -DOTHER=FILE -P tables_alone.cmake; OTHER executes an instruction, so there they must be found.
execute_process(COMMAND ${PROGRAM} COMMAND_ERROR_IS_FATAL ANY)

function(arithmetic_of program variable)
  execute_process(COMMAND ${NM} -C --defined-only ${program} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE ";" "," text "${text}")
  string(REGEX MATCHALL "[^\n]* warpmat::(N_[A-Z0-9]+|scalar|Instruction|StagedWarp|FastPath|execute[a-z_]*|dot_step|dot)[(:][^\n]*" found "${text}")
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

arithmetic_of(${PROGRAM} found)
if(found)
  list(JOIN found "\n" found)
  message(SEND_ERROR "the tables need the arithmetic:\n${found}")
endif()
arithmetic_of(${OTHER} found)
list(LENGTH found count)
if(count LESS 10)
  message(SEND_ERROR "${OTHER} executes an instruction, and this script finds only ${count} symbols of that")
endif()
