// What anomaly mode keeps of a node where no interpreter is: the C++ frames in which it was made, and its parent.
#include "graph/native_anomaly.h"

#include <algorithm>
#include <cstdlib>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define WENGERT_HAS_BACKTRACE
#endif
#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

namespace wengert {
namespace {

constexpr int kFrames = 64, kOwnFrames = 3;  // of this file and of the node's constructor

// "./program(_ZN4user3fooEv+0x1d) [0x4011f6]" with the name in the middle made readable.
std::string readable(const char* frame) {
    std::string text = frame;
#if __has_include(<cxxabi.h>)
    const size_t begin = text.find('('), end = text.find('+', begin);
    if (begin == std::string::npos || end == std::string::npos) return text;
    int status = 0;
    const std::string mangled = text.substr(begin + 1, end - begin - 1);
    if (char* name = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status)) {
        text.replace(begin + 1, end - begin - 1, name);
        std::free(name);
    }
#endif
    return text;
}

class NativeAnomalyMetadata final : public AnomalyMetadata {
public:
    void store_stack() override {
#ifdef WENGERT_HAS_BACKTRACE
        void* frames[kFrames];
        const int count = backtrace(frames, kFrames);
        frames_.assign(frames + std::min(kOwnFrames, count), frames + count);
#endif
    }
    void store_place(const Node* parent) override { parent_name_ = parent ? parent->name() : ""; }
    void assign_parent(const Ref<Node>& parent) override { parent_ = parent; }
    std::string place() const override { return ""; }

    void print_stack(const std::string& node_name) override {
        std::string text = "Error detected in " + node_name + ". " + traceback("that caused the error");
        const Node* node = parent_.get();
        for (int depth = 0; depth < 100 && node; ++depth) {
            const auto* data = dynamic_cast<const NativeAnomalyMetadata*>(node->anomaly_metadata());
            text += "\n\nPrevious calculation was induced by " + node->name() + ". " +
                    (data ? *data : NativeAnomalyMetadata()).traceback("that induced the previous calculation");
            node = data ? data->parent_.get() : nullptr;
        }
        warn(WarningKind::User, text);
    }

    std::string traceback(const char* role) const {
        if (frames_.empty())
            return "No forward pass information available. Enable detect anomaly during forward pass for more "
                   "information.";
        std::string text = std::string("Traceback of forward call ") + role + ":\n";
#ifdef WENGERT_HAS_BACKTRACE
        // The outermost first, as in Python.
        if (char** symbols = backtrace_symbols(frames_.data(), static_cast<int>(frames_.size()))) {
            for (size_t i = frames_.size(); i-- > 0;) text += "  " + readable(symbols[i]) + "\n";
            std::free(symbols);
        }
#endif
        return text;
    }

private:
    std::vector<void*> frames_;
    Ref<Node> parent_;
    std::string parent_name_;
};

}  // namespace

std::unique_ptr<AnomalyMetadata> make_native_anomaly_metadata() { return std::make_unique<NativeAnomalyMetadata>(); }

}  // namespace wengert
