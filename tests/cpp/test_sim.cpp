// The device made of threads: what it computes, in which order, and what it refuses.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

#include "backends/sim/sim.h"
#include "base/memory/out_of_memory.h"
#include "engine/wengert.h"
#include "kernels/device_kernel.h"
#include "kernels/on_host.h"

using namespace wengert;

namespace {

constexpr Device kDevice{DeviceType::Sim, 0}, kOther{DeviceType::Sim, 1};

// Where a stream waits until the test lets it go on.
struct Gate {
    void pass() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return is_open; });
    }
    void open() {
        std::lock_guard lock(mutex);
        is_open = true;
        changed.notify_all();
    }
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = false;
};

// --- Kernels that do what a test needs
constinit kernels::DeviceKernel<void(kernels::Result, double)> set_all{"set_all", [](kernels::Result t, double value) {
                                                                           for (int64_t i = 0; i < t->numel(); ++i)
                                                                               t->data_as<double>()[i * t->stride(0)] =
                                                                                   value;
                                                                       }};
constinit kernels::DeviceKernel<void(kernels::Result, const Tensor&)> add_to{
    "add_to", [](kernels::Result t, const Tensor& other) {
        for (int64_t i = 0; i < t->numel(); ++i) t->data_as<double>()[i] += other.data_as<double>()[i];
    }};
constinit kernels::DeviceKernel<double(const Tensor&)> first_of{"first_of",
                                                                [](const Tensor& t) { return t.data_as<double>()[0]; }};
constinit kernels::DeviceKernel<void(kernels::Result, int64_t)> pass_gate{
    "pass_gate", [](kernels::Result, int64_t gate) { reinterpret_cast<Gate*>(gate)->pass(); }};
constinit kernels::DeviceKernel<void(kernels::Result, const char*)> refuse{
    "refuse", [](kernels::Result, const char* what) { fail(ErrorKind::Index, what); }};

void hold(const Tensor& t, Gate& gate) { pass_gate(t, reinterpret_cast<int64_t>(&gate)); }

Tensor on_sim(double value, int64_t n = 4, Device device = kDevice) {
    return full(Dims{n}, value, DType::Float64, device);
}
double value_of(const Tensor& t, int64_t i = 0) { return kernels::on_host(t, "value_of").data_as<double>()[i]; }

// Each test begins with an idle device, and ends with one.
struct Checked {
    Checked() {
        sim::set_race_check(sim::RaceCheck::Raise);
        sim::forget_races();
        sim::empty_cache();
    }
    ~Checked() {
        sim::set_delays(0, 0);
        sim::synchronize_everything();
    }
};

std::string error_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// What a child of this process makes of f: its exit status.
int status_in_child(const std::function<int()>& f) {
    const pid_t child = fork();
    if (child == 0) _exit(f());
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

}  // namespace

TEST_CASE("sim: values go there and come back") {
    Checked checked;
    Tensor here = empty(Dims{3}, DType::Float64);
    for (int i = 0; i < 3; ++i) here.data_as<double>()[i] = i;
    Tensor there = kernels::on_device(here, kDevice);
    here.data_as<double>()[0] = 100;  // the copy is of what was there
    CHECK(there.device() == kDevice);
    add_to(there, there);
    Tensor back = kernels::on_host(there, "test");
    CHECK(back.device() == Device{});
    for (int i = 0; i < 3; ++i) CHECK(back.data_as<double>()[i] == 2 * i);
    CHECK(first_of(on_sim(7)) == 7);
    CHECK(value_of(kernels::on_device(on_sim(5), kOther)) == 5);
    CHECK(empty(Dims{0}, DType::Float64, kDevice).numel() == 0);
}

TEST_CASE("sim: operations have the values of the CPU") {
    Checked checked;
    Tensor x = empty(Dims{3, 4}, DType::Float64), y = empty(Dims{4, 2}, DType::Float64);
    for (int i = 0; i < 12; ++i) x.data_as<double>()[i] = 0.5 * i - 2;
    for (int i = 0; i < 8; ++i) y.data_as<double>()[i] = 1.0 / (i + 1);
    auto f = [](const Tensor& a, const Tensor& b) { return ops::sum(ops::exp(ops::tanh(ops::matmul(a, b)))); };
    const Tensor there = f(kernels::on_device(x, kDevice), kernels::on_device(y, kDevice));
    CHECK(there.device() == kDevice);
    CHECK(value_of(there) == value_of(f(x, y)));
}

TEST_CASE("sim: the host cannot touch the memory") {
    Checked checked;
    const Tensor t = on_sim(1);
    const int status = status_in_child([&] {
        std::signal(SIGSEGV, SIG_DFL);
        return static_cast<int>(*const_cast<volatile std::byte*>(t.data()));
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGSEGV);
}

TEST_CASE("sim: a forked child is refused") {
    Checked checked;
    Tensor t = on_sim(1);
    const int status = status_in_child([&] {
        const bool refused =
            contains(error_of([&] { set_all(t, 2); }), "Cannot re-initialize sim in forked subprocess");
        t.reset();  // which is no error
        return refused ? 3 : 4;
    });
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 3);
}

TEST_CASE("sim: a stream works in order, whatever its delays") {
    Checked checked;
    sim::set_delays(1, 200);
    Tensor sum = on_sim(0), term = on_sim(0);
    for (int i = 0; i < 50; ++i) {
        set_all(term, i);
        add_to(sum, term);
    }
    CHECK(value_of(sum, 3) == 49 * 50 / 2);
}

TEST_CASE("sim: streams are independent, and wait for events") {
    Checked checked;
    Backend& backend = backend_of(kDevice);
    const Stream a = backend.new_stream(kDevice), b = backend.new_stream(kDevice);
    CHECK_FALSE(a == b);
    Tensor x = on_sim(0), y = on_sim(0);
    backend.synchronize(kDevice);
    Gate gate;
    Event event;
    {
        StreamGuard guard(a);
        hold(x, gate);
        set_all(x, 3);
        event = backend.record_event(a);
    }
    CHECK(backend.current_stream(kDevice).id == 0);
    {
        StreamGuard guard(b);
        set_all(y, 4);
        backend.synchronize_stream(b);  // though a waits
        CHECK_FALSE(backend.query_stream(a));
        CHECK_FALSE(backend.query_event(event));
        backend.wait_event(b, event);
        add_to(y, x);
        CHECK_FALSE(backend.query_stream(b));
    }
    gate.open();
    backend.synchronize_stream(b);
    CHECK(backend.query_stream(a));
    CHECK(backend.elapsed_time(event, event) == 0);
    CHECK(value_of(y) == 7);
}

TEST_CASE("sim: a missing wait is found, whoever is faster") {
    Checked checked;
    Backend& backend = backend_of(kDevice);
    const Stream a = backend.new_stream(kDevice), b = backend.new_stream(kDevice);
    Tensor x = on_sim(0), y = on_sim(0);
    backend.synchronize(kDevice);
    {
        StreamGuard guard(a);
        set_all(x, 1);
    }
    StreamGuard guard(b);
    const std::string text = error_of([&] { add_to(y, x); });
    CHECK(contains(text, "[sim] race: 'add_to' on stream"));
    CHECK(contains(text, "reads memory that 'set_all' on stream"));
    CHECK(contains(text, "wait_stream"));
    CHECK(sim::races().size() == 1);
    backend.wait_event(b, backend.record_event(a));
    add_to(y, x);
    CHECK(value_of(y) == 1);

    set_all(y, 2);
    StreamGuard again(a);
    CHECK(contains(error_of([&] { set_all(y, 3); }), "'set_all' on stream"));
    backend.synchronize_stream(b);  // the host knows, and what it asks for later comes later
    set_all(y, 3);
    CHECK(value_of(y) == 3);
}

TEST_CASE("sim: reads need no order, and neither do parts") {
    Checked checked;
    Backend& backend = backend_of(kDevice);
    const Stream a = backend.new_stream(kDevice), b = backend.new_stream(kDevice);
    Tensor x = on_sim(1), y = on_sim(0), z = on_sim(0), m = on_sim(0, 6);
    Tensor even = alias(m, Dims{3}, Dims{2}, 0), odd = alias(m, Dims{3}, Dims{2}, 1);
    backend.synchronize(kDevice);
    for (auto [stream, t, column] : {std::tuple{a, y, even}, std::tuple{b, z, odd}}) {
        StreamGuard guard(stream);
        add_to(t, x);
        set_all(column, static_cast<double>(stream.id));
    }
    backend.synchronize(kDevice);
    CHECK(value_of(m, 0) == static_cast<double>(a.id));
    CHECK(value_of(m, 5) == static_cast<double>(b.id));
    CHECK(sim::races().empty());
}

TEST_CASE("sim: memory is reused on its stream, and elsewhere not before it is done with") {
    Checked checked;
    Backend& backend = backend_of(kDevice);
    Tensor x = on_sim(1);
    backend.synchronize(kDevice);
    const std::byte* address = x.data();
    x.reset();
    Tensor y = on_sim(2);
    CHECK(y.data() == address);

    const Stream side = backend.new_stream(kDevice);
    Gate gate;
    Tensor blocker = on_sim(0);
    backend.wait_event(side, backend.record_event({kDevice, 0}));
    {
        StreamGuard guard(side);
        set_all(y, 5);
        backend.synchronize_stream(side);
        hold(blocker, gate);
    }
    backend.record_stream(*y.storage(), side);
    y.reset();
    CHECK(sim::memory_statistics(kDevice).active.current > sim::memory_statistics(kDevice).allocated.current);
    CHECK(on_sim(3).data() != address);
    gate.open();
    backend.synchronize(kDevice);
    Tensor first = on_sim(4), second = on_sim(5);
    CHECK((first.data() == address || second.data() == address));
}

TEST_CASE("sim: memory is free as soon as its tensor dies, though its stream has work to do") {
    Checked checked;
    Gate gate;
    Tensor x = on_sim(1);
    const std::byte* address = x.data();
    hold(x, gate);
    set_all(x, 2);
    x.reset();
    Tensor y = on_sim(3);
    CHECK(y.data() == address);
    gate.open();
    CHECK(value_of(y) == 3);
}

TEST_CASE("sim: a missing record_stream is found") {
    Checked checked;
    Backend& backend = backend_of(kDevice);
    const Stream side = backend.new_stream(kDevice);
    Tensor x = on_sim(1), y = on_sim(2);
    backend.wait_event(side, backend.record_event({kDevice, 0}));
    {
        StreamGuard guard(side);
        add_to(y, x);
    }
    x.reset();
    const std::string text = error_of([] { on_sim(3); });
    CHECK(contains(text, "'fill' on stream 0"));
    CHECK(contains(text, "reads"));
    CHECK(contains(text, "record_stream"));
}

TEST_CASE("sim: memory ends") {
    Checked checked;
    const int64_t total = sim::memory_statistics(kDevice).total, megabyte = 1 << 20;
    sim::set_memory_limit(kDevice, sim::memory_statistics(kDevice).reserved.current + megabyte);
    auto half = [&] { return empty(Dims{megabyte / 2}, DType::UInt8, kDevice); };
    Tensor a = half(), b = half();
    std::string text = error_of([&] { half(); });
    CHECK(contains(text, "sim out of memory. Tried to allocate 512.00 KiB"));
    CHECK_THROWS_AS(half(), OutOfDeviceMemory);
    a.reset();
    b.reset();
    Tensor whole = empty(Dims{megabyte}, DType::UInt8, kDevice);  // the two are given up for it
    CHECK(sim::memory_statistics(kDevice).retries > 0);
    sim::set_memory_limit(kDevice, total);
    CHECK_THROWS_AS(empty(Dims{2 * total}, DType::UInt8, kDevice), OutOfDeviceMemory);
}

TEST_CASE("sim: memory is counted") {
    Checked checked;
    const sim::MemoryStatistics before = sim::memory_statistics(kDevice);
    sim::reset_peak_memory(kDevice);
    {
        Tensor t = empty(Dims{1000}, DType::UInt8, kDevice);
        CHECK(sim::memory_statistics(kDevice).allocated.current == before.allocated.current + 1024);
    }
    CHECK(sim::memory_statistics(kDevice).allocated.current == before.allocated.current);
    CHECK(sim::memory_statistics(kDevice).allocated.peak == before.allocated.current + 1024);
    CHECK(sim::memory_statistics(kDevice).reserved.current >= before.reserved.current + 1024);
    sim::empty_cache();
    CHECK(sim::memory_statistics(kDevice).reserved.current == before.reserved.current);
}

TEST_CASE("sim: what calls raise is raised at the next wait") {
    Checked checked;
    Backend& backend = backend_of(kDevice);
    Tensor t = on_sim(1);
    refuse(t, "the first");
    refuse(t, "the second");
    set_all(t, 6);
    CHECK(error_of([&] { backend.synchronize(kDevice); }) == "the first");
    CHECK(error_of([&] { backend.synchronize(kDevice); }) == "");
    CHECK(value_of(t) == 6);
    refuse(t, "the third");
    CHECK(error_of([&] { value_of(t); }) == "the third");
}

TEST_CASE("sim: devices meet in copies only") {
    Checked checked;
    Tensor a = on_sim(1), b = on_sim(2, 4, kOther);
    CHECK(contains(error_of([&] { add_to(a, b); }), "Expected all tensors to be on the same device"));
    Tensor moved = kernels::on_device(b, kDevice);
    set_all(b, 9);  // after the copy
    add_to(a, moved);
    CHECK(value_of(a) == 3);
    CHECK(value_of(b) == 9);
}

TEST_CASE("sim: threads give work at the same time") {
    Checked checked;
    sim::set_delays(3, 20);
    std::vector<std::thread> threads;
    std::vector<double> results(4);
    for (size_t i = 0; i < results.size(); ++i)
        threads.emplace_back([&results, i] {
            const Device device = i % 2 ? kOther : kDevice;
            StreamGuard guard(backend_of(device).new_stream(device));
            Tensor sum = on_sim(0, 100, device);
            for (int n = 0; n < 100; ++n) add_to(sum, on_sim(static_cast<double>(i), 100, device));
            results[i] = value_of(sum, 99);
        });
    for (std::thread& t : threads) t.join();
    for (size_t i = 0; i < results.size(); ++i) CHECK(results[i] == 100 * static_cast<double>(i));
    CHECK(sim::races().empty());
}
