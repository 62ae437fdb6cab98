#include "tensor/backend.h"

#include <array>

#include "base/error.h"
#include "tensor/built_in_backends.h"

namespace wengert {
namespace {

using Backends = std::array<Backend*, kDeviceTypes>;

Backends& backends_by_type() noexcept {
    static Backends all = [] {
        Backends found{};
        for (Backend* backend : backends::built_in()) found[static_cast<size_t>(backend->type())] = backend;
        return found;
    }();
    return all;
}

}  // namespace

Backend* find_backend(DeviceType type) noexcept { return backends_by_type()[static_cast<size_t>(type)]; }

Backend& backend_of(Device device) {
    Backend* backend = find_backend(device.type);
    check(backend, ErrorKind::NotImplemented, "no backend for device ", device, "; there are ", device_type_names());
    return *backend;
}

void register_backend(Backend& backend) noexcept { backends_by_type()[static_cast<size_t>(backend.type())] = &backend; }

bool find_device_type(std::string_view name, DeviceType* type) noexcept {
    *type = DeviceType::Cpu;
    if (name == "cpu") return true;
    for (const Backend* backend : backends_by_type())
        if (backend && name == backend->name()) {
            *type = backend->type();
            return true;
        }
    return false;
}

std::string device_type_names() {
    std::string names = "cpu";
    for (const Backend* backend : backends_by_type())
        if (backend) names.append(", ").append(backend->name());
    return names;
}

std::ostream& operator<<(std::ostream& out, Device d) {
    if (d.type == DeviceType::Cpu) return out << "cpu";
    const Backend* backend = find_backend(d.type);
    out << (backend ? backend->name() : "unknown");
    return d.type == DeviceType::Meta ? out : out << ':' << int{d.index};
}

}  // namespace wengert
