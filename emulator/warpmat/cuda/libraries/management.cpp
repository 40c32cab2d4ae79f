// NVML: the facts of the cards, all of the one that a target stands for. Sensor readings, such as its temperature, are not supported.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <warpmat/cuda/libraries/library.h>

namespace warpmat::cuda {

extern "C" {
Error cudaDeviceGetPCIBusId(char* id, int length, int device);
}

namespace {

/// nvmlReturn_t.
enum NvmlStatus : int {
  nvml_success = 0,
  nvml_uninitialized = 1,
  nvml_invalid_argument = 2,
  nvml_not_supported = 3,
  nvml_not_found = 6,
  nvml_insufficient_size = 7,
};

struct Card {};  ///< nvmlDevice_t: an element of `cards`

struct MemoryFacts {  ///< nvmlMemory_t
  unsigned long long total, free, used;
};
struct MemoryFacts2 {  ///< nvmlMemory_v2_t
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct PciFacts {  ///< nvmlPciInfo_t
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};
struct Utilization {  ///< nvmlUtilization_t
  unsigned gpu, memory;
};

/// What the runtime does not say of a card. Of others than the H200, which was asked, it is not known.
struct CardFacts {
  std::string_view name;
  unsigned power_milliwatts, pcie_generation, pcie_lanes;
};
constexpr CardFacts card_facts[] = {{"NVIDIA H200", 700000, 5, 16}};

constexpr std::array<Card, most_gpus> cards{};

int gpu_of(const Card* card) {
  return static_cast<int>(card - cards.data());
}

struct Initialised {
  int count = 0;
  static void leave(Context&, Owner) {}
};

int& initialised() {
  return context().part<Initialised>().count;
}

/// Runs a query under the lock. It needs no CUDA context, and sees no fault of a kernel.
template <typename Body>
int query(Body&& body) {
  const std::lock_guard lock(mutex());
  return initialised() > 0 ? body() : int(nvml_uninitialized);
}
template <typename Body>
int query_card(const Card* card, Body&& body) {
  return query([&]() -> int {
    if (card < cards.data() || card >= cards.data() + context().gpus) return nvml_invalid_argument;
    const AsOwner as(primary_of(gpu_of(card)));
    return body(context());
  });
}

template <typename T>
int give(T* to, T value) {
  if (to == nullptr) return nvml_invalid_argument;
  *to = value;
  return nvml_success;
}
int give_text(char* to, unsigned length, std::string_view text) {
  if (to == nullptr) return nvml_invalid_argument;
  if (length <= text.size()) return nvml_insufficient_size;
  std::ranges::copy(text, to);
  to[text.size()] = '\0';
  return nvml_success;
}
int give_number(const Card* card, unsigned* to, unsigned value) {
  return query_card(card, [&](Context&) { return give(to, value); });
}
/// A fact of the table.
int give_fact(const Card* card, unsigned* to, unsigned CardFacts::*fact) {
  return query_card(card, [&](Context& context) -> int {
    const auto* const found = std::ranges::find(card_facts, std::string_view(context.device.name), &CardFacts::name);
    return found == std::end(card_facts) ? int(nvml_not_supported) : give(to, found->*fact);
  });
}

std::string bus_id(int gpu) {
  char id[32] = "";
  static_cast<void>(cudaDeviceGetPCIBusId(id, sizeof id, gpu));
  return id;
}

/// The same for each run, as the addresses are.
std::string card_uuid(int gpu) {
  return fmt::format("GPU-77617270-6d61-7400-0000-{:012x}", gpu);
}

namespace nvml {

int init(const char*) {
  const std::lock_guard lock(mutex());
  ++initialised();
  return nvml_success;
}
int initWithFlags(const char* call, unsigned) {
  return init(call);
}
int shutdown(const char*) {
  return query([] {
    --initialised();
    return int(nvml_success);
  });
}
const char* errorString(const char*, int status) {
  switch (status) {
    case nvml_success: return "Success";
    case nvml_uninitialized: return "Uninitialized";
    case nvml_invalid_argument: return "Invalid Argument";
    case nvml_not_supported: return "Not Supported";
    case nvml_not_found: return "Not Found";
    case nvml_insufficient_size: return "Insufficient Size";
    default: return "Unknown Error";
  }
}

int systemGetDriverVersion(const char*, char* text, unsigned length) {
  return query([&] { return give_text(text, length, "580.65.06"); });  // the one that CUDA 13.0 came with
}
int systemGetNVMLVersion(const char*, char* text, unsigned length) {
  return query([&] { return give_text(text, length, "13.580.65.06"); });
}
int systemGetCudaDriverVersion(const char*, int* version) {
  return give(version, 13000);
}

int deviceGetCount(const char*, unsigned* count) {
  return query([&] { return give(count, static_cast<unsigned>(context().gpus)); });
}
int unitGetCount(const char*, unsigned* count) {
  return query([&] { return give(count, 0u); });
}
/// The first card with the property.
template <typename Has>
int find_card(const Card** card, Has has) {
  return query([&] {
    for (int gpu = 0; gpu < context().gpus; ++gpu)
      if (has(gpu)) return give(card, &cards[static_cast<std::size_t>(gpu)]);
    return int(nvml_not_found);
  });
}
int deviceGetHandleByIndex(const char*, unsigned index, const Card** card) {
  return query([&] { return index < static_cast<unsigned>(context().gpus) ? give(card, &cards[index]) : int(nvml_invalid_argument); });
}
int deviceGetHandleByUUID(const char*, const char* uuid, const Card** card) {
  return find_card(card, [&](int gpu) { return uuid != nullptr && card_uuid(gpu) == uuid; });
}
/// With or without leading zeros of the domain.
int deviceGetHandleByPciBusId(const char*, const char* id, const Card** card) {
  return find_card(card, [&](int gpu) { return id != nullptr && (bus_id(gpu) == id || "0000" + bus_id(gpu) == id); });
}

int deviceGetName(const char*, const Card* card, char* text, unsigned length) {
  return query_card(card, [&](Context& context) { return give_text(text, length, context.device.name); });
}
int deviceGetUUID(const char*, const Card* card, char* text, unsigned length) {
  return query_card(card, [&](Context&) { return give_text(text, length, card_uuid(gpu_of(card))); });
}
#define WARPMAT_NVML(name, give, what)                    \
  int name(const char*, const Card* card, unsigned* to) { \
    return give(card, to, what);                          \
  }
WARPMAT_NVML(deviceGetIndex, give_number, static_cast<unsigned>(gpu_of(card)))
WARPMAT_NVML(deviceGetMinorNumber, give_number, static_cast<unsigned>(gpu_of(card)))
WARPMAT_NVML(deviceGetBoardId, give_number, static_cast<unsigned>(gpu_of(card)))
WARPMAT_NVML(deviceGetMultiGpuBoard, give_number, 0)
WARPMAT_NVML(deviceGetPersistenceMode, give_number, 1)
WARPMAT_NVML(deviceGetComputeMode, give_number, 0)
WARPMAT_NVML(deviceGetBrand, give_number, 14)  // NVML_BRAND_NVIDIA
WARPMAT_NVML(deviceGetPerformanceState, give_number, 0)
WARPMAT_NVML(deviceGetDisplayMode, give_number, 0)
WARPMAT_NVML(deviceGetDisplayActive, give_number, 0)
WARPMAT_NVML(deviceIsMigDeviceHandle, give_number, 0)
WARPMAT_NVML(deviceGetPowerManagementLimit, give_fact, &CardFacts::power_milliwatts)
WARPMAT_NVML(deviceGetEnforcedPowerLimit, give_fact, &CardFacts::power_milliwatts)
WARPMAT_NVML(deviceGetMaxPcieLinkGeneration, give_fact, &CardFacts::pcie_generation)
WARPMAT_NVML(deviceGetCurrPcieLinkGeneration, give_fact, &CardFacts::pcie_generation)
WARPMAT_NVML(deviceGetMaxPcieLinkWidth, give_fact, &CardFacts::pcie_lanes)
WARPMAT_NVML(deviceGetCurrPcieLinkWidth, give_fact, &CardFacts::pcie_lanes)
#undef WARPMAT_NVML
int deviceGetMemoryBusWidth(const char*, const Card* card, unsigned* to) {
  return query_card(card, [&](Context& context) { return give(to, static_cast<unsigned>(context.device.bus_bits)); });
}
/// CUDA cores: FP32 lanes of a processor, Programming Guide, "Compute Capabilities".
int deviceGetNumGpuCores(const char*, const Card* card, unsigned* to) {
  return query_card(card, [&](Context& context) {
    const int number = context.device.number;
    const int lanes = number == 70 || number == 75 || number == 80 ? 64 : 128;
    return give(to, static_cast<unsigned>(context.device.processors * lanes));
  });
}
int deviceGetArchitecture(const char*, const Card* card, unsigned* to) {
  return query_card(card, [&](Context& context) {
    const int number = context.device.number;
    return give(to, number < 75 ? 5u : number < 80 ? 6u : number < 89 ? 7u : number < 90 ? 8u : number < 100 ? 9u : 10u);
  });
}
int deviceGetCudaComputeCapability(const char*, const Card* card, int* major, int* minor) {
  return query_card(card, [&](Context& context) -> int {
    if (major == nullptr || minor == nullptr) return nvml_invalid_argument;
    *major = context.device.number / 10;
    *minor = context.device.number % 10;
    return nvml_success;
  });
}

/// nvmlClockType_t: graphics, SM, memory, video.
int deviceGetMaxClockInfo(const char*, const Card* card, int type, unsigned* to) {
  return query_card(card, [&](Context& context) -> int {
    if (type < 0 || type > 3) return nvml_invalid_argument;
    if (type == 3) return nvml_not_supported;
    return give(to, static_cast<unsigned>((type == 2 ? context.device.memory_clock_khz : context.device.clock_khz) / 1000));
  });
}
int deviceGetClockInfo(const char* call, const Card* card, int type, unsigned* to) {
  return deviceGetMaxClockInfo(call, card, type, to);
}
int deviceGetEccMode(const char*, const Card* card, unsigned* current, unsigned* pending) {
  return query_card(card, [&](Context&) { return give(current, 0u) == nvml_success ? give(pending, 0u) : int(nvml_invalid_argument); });
}
int deviceGetMigMode(const char*, const Card* card, unsigned* current, unsigned* pending) {
  return deviceGetEccMode("", card, current, pending);
}

int deviceGetMemoryInfo(const char*, const Card* card, MemoryFacts* to) {
  return query_card(card, [&](Context& context) {
    const auto total = context.space.total_bytes(), free = context.space.free_bytes();
    return give(to, MemoryFacts{total, free, total - free});
  });
}
int deviceGetMemoryInfo2(const char*, const Card* card, MemoryFacts2* to) {
  return query_card(card, [&](Context& context) -> int {
    if (to == nullptr) return nvml_invalid_argument;
    const auto total = context.space.total_bytes(), free = context.space.free_bytes();
    *to = {to->version, total, 0, free, total - free};
    return nvml_success;
  });
}
int deviceGetPciInfo(const char*, const Card* card, PciFacts* to) {
  return query_card(card, [&](Context&) -> int {
    if (to == nullptr) return nvml_invalid_argument;
    *to = {};
    const std::string id = bus_id(gpu_of(card));
    static_cast<void>(std::sscanf(id.c_str(), "%x:%x:%x", &to->domain, &to->bus, &to->device));
    std::snprintf(to->legacy_id, sizeof to->legacy_id, "%s", id.c_str());
    std::snprintf(to->id, sizeof to->id, "0000%s", id.c_str());
    return nvml_success;
  });
}
int deviceGetUtilizationRates(const char*, const Card* card, Utilization* to) {
  return query_card(card, [&](Context&) { return give(to, Utilization{0, 0}); });
}
int deviceGetRunningProcesses(const char*, const Card* card, unsigned* count, void*) {
  return give_number(card, count, 0);
}

}  // namespace nvml

}  // namespace

#define WARPMAT_LIBRARY_ROUTINES nvml
#define WARPMAT_LIBRARY_REFUSAL nvml_not_supported
#define WARPMAT_LIBRARY_TABLE <warpmat/cuda/libraries/management_functions.inc>
#include <warpmat/cuda/libraries/implement.inc>

}  // namespace warpmat::cuda
