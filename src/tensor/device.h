// Where a tensor's memory lies. `cpu` is one device; others (a simulated accelerator, a GPU) register kernels behind the
// same tables and are told apart by their type and index.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

namespace wengert {

enum class DeviceType : uint8_t { Cpu, Sim, Meta };

struct Device {
    DeviceType type = DeviceType::Cpu;
    int8_t index = 0;
    friend bool operator==(Device, Device) = default;
};

inline std::ostream& operator<<(std::ostream& out, Device d) {
    switch (d.type) {
        case DeviceType::Cpu:
            return out << "cpu";
        case DeviceType::Sim:
            return out << "sim:" << int{d.index};
        case DeviceType::Meta:
            return out << "meta";
    }
    return out;
}

// A queue of work on a device. The CPU has only the default one.
struct Stream {
    Device device;
    int64_t id = 0;
    friend bool operator==(const Stream&, const Stream&) = default;
};

}  // namespace wengert
