#!/usr/bin/env bash
# Builds the fuzz targets as OSS-Fuzz asks for: with $CXX, $CXXFLAGS and $LIB_FUZZING_ENGINE into $OUT, each with its seeds as a zip file, its
# dictionary and its options. What the build needs: tools/install-packages.
set -euo pipefail
cd "$(dirname "$0")/../.."

cmake -S . -B "${WORK:-build/ossfuzz}" -G Ninja -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="$CXXFLAGS" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO= -DWARPMAT_FUZZ=ON -DWARPMAT_INSTRUCTION_SETS=haswell -DWARPMAT_BUILD_TESTS=OFF -DWARPMAT_BUILD_BENCH=OFF
cmake --build "${WORK:-build/ossfuzz}" --target warpmat_fuzz
for program in "${WORK:-build/ossfuzz}"/fuzz/fuzz_*; do
  case $program in *.dict) continue ;; esac
  target=${program##*/fuzz_}
  cp "$program" "$program.dict" "$OUT/"
  cp tests/fuzz/fuzz.options "$OUT/fuzz_$target.options"
  zip --quiet --junk-paths --recurse-paths "$OUT/fuzz_${target}_seed_corpus.zip" "tests/fuzz/corpus/$target"
done
