// Where a tensor's memory lies. What a device other than the CPU provides, and under which name, is said by the backend of
// its type (tensor/backend.h).
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

namespace wengert {

enum class DeviceType : uint8_t { Cpu, Meta, Sim, Cuda, PrivateUse };
inline constexpr size_t kDeviceTypes = 5;

struct Device {
    DeviceType type = DeviceType::Cpu;
    int8_t index = 0;
    friend bool operator==(Device, Device) = default;
};

// tensor/backend.h knows the names.
std::string_view type_name(DeviceType type) noexcept;   // "cpu", "meta", "sim"
bool has_index(DeviceType type) noexcept;               // there is one cpu, and one meta
std::ostream& operator<<(std::ostream& out, Device d);  // "cpu", "meta", "sim:0"

// A queue of work on a device. The CPU has only the default one.
struct Stream {
    Device device;
    int64_t id = 0;
    friend bool operator==(const Stream&, const Stream&) = default;
};

}  // namespace wengert
