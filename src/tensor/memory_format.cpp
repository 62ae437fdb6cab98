#include "tensor/memory_format.h"

namespace wengert {
namespace {

constexpr size_t rank_of(MemoryFormat format) { return format == MemoryFormat::ChannelsLast ? 4 : 5; }

// With the channels behind the other dimensions.
Dims channels_moved(IntSpan values) {
    Dims out{values[0]};
    for (int64_t v : values.subspan(2)) out.push_back(v);
    out.push_back(values[1]);
    return out;
}

}  // namespace

bool is_laid_out(const Tensor& t, MemoryFormat format) {
    switch (format) {
        case MemoryFormat::Contiguous:
            return t.is_contiguous();
        case MemoryFormat::Preserve:
            return true;
        case MemoryFormat::ChannelsLast:
        case MemoryFormat::ChannelsLast3d:
            break;
    }
    return t.sizes().size() == rank_of(format) && is_contiguous(channels_moved(t.sizes()), channels_moved(t.strides()));
}

Dims strides_in(IntSpan sizes, MemoryFormat format) {
    if (format == MemoryFormat::Contiguous) return contiguous_strides(sizes);
    const size_t rank = rank_of(format);
    check(sizes.size() == rank, ErrorKind::Runtime, "required rank ", rank, " tensor to use channels_last",
          rank == 5 ? "_3d" : "", " format, got shape ", ShapeOf{sizes});
    const Dims moved = contiguous_strides(channels_moved(sizes));
    Dims strides{moved[0], moved[rank - 1]};
    for (size_t d = 1; d + 1 < rank; ++d) strides.push_back(moved[d]);
    return strides;
}

}  // namespace wengert
