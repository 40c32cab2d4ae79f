# gpu/lab/device/write-sweep writes what nvcc compiles: cmake -DPYTHON=... -DSOURCE=... -DCOMMAND=... -DFOLDER=... -P device_sweep.cmake
file(REMOVE_RECURSE ${FOLDER})
execute_process(COMMAND ${PYTHON} ${SOURCE}/gpu/lab/device/write-sweep ${FOLDER} --warpmat ${COMMAND} --match "^mma.sp.sync.*m16n8k16.*tf32"
                OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
file(READ ${FOLDER}/form_0.cu text)
if(NOT said STREQUAL "1 forms, 2 to judge\n")
  message(FATAL_ERROR "another number of forms: ${said}")
endif()
foreach(part "selector == 0" "sweep<NoCard, Opcode::mma_sp_sync_aligned_m16n8k16_row_col_f32_tf32_tf32_f32, Hardware::sm_80>({" "sweep<Card, Opcode::mma_sp_sync_aligned_m16n8k16_row_col_f32_tf32_tf32_f32, Hardware::sm_90>({" "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4")
  string(FIND "${text}" "${part}" at)
  if(at LESS 0)
    message(FATAL_ERROR "form_0.cu has no ${part}")
  endif()
endforeach()
find_program(NVCC nvcc PATHS /usr/local/cuda/bin)
if(NOT NVCC)
  message("skipped: no nvcc")
  return()
endif()
execute_process(COMMAND ${NVCC} -std=c++17 -gencode arch=compute_90a,code=sm_90a -I${SOURCE}/emulator -I${SOURCE} -shared
                        -Xcompiler -fPIC ${FOLDER}/form_0.cu -o ${FOLDER}/form_0.so
                COMMAND_ERROR_IS_FATAL ANY)
