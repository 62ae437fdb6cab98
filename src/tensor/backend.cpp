#include "tensor/backend.h"

#include <array>

#include "base/error.h"
#include "tensor/built_in_backends.h"

namespace wengert {

constinit std::atomic<bool> streams_in_use = false;

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

Backend& accelerator() {
    for (Backend* backend : backends_by_type())
        if (backend && backend->has_streams()) return *backend;
    fail(ErrorKind::Runtime, "no device here has streams; there are ", device_type_names());
}

void wait_event(Stream stream, const Event& event) {
    check(!event || event.type == stream.device.type, ErrorKind::Runtime, "an event of a device of type ",
          type_name(event.type), " is waited for by a stream of ", stream.device);
    backend_of(stream.device).wait_event(stream, event);
}

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

std::string_view type_name(DeviceType type) noexcept {
    const Backend* backend = find_backend(type);
    return type == DeviceType::Cpu ? "cpu" : backend ? backend->name() : "unknown";
}

bool has_index(DeviceType type) noexcept {
    const Backend* backend = find_backend(type);
    return backend && backend->has_index();
}

std::ostream& operator<<(std::ostream& out, Device d) {
    out << type_name(d.type);
    return has_index(d.type) ? out << ':' << int{d.index} : out;
}

}  // namespace wengert
