#pragma once

#include <cstdint>
#include <map>
#include <string>

/// Of each entry of a cubin for sm_90, by name: the immediates that its straight part stores to global memory, by the offset of the store
/// (PTX: st.global [%to+OFFSET]). A word that is computed at run time is missing; 64 bits are two words. Nothing where `cubin` is none.
std::map<std::string, std::map<std::int64_t, std::uint32_t>> stored_constants(const std::string& cubin);
