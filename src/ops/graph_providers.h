#pragma once

namespace wengert {

// Runs at load; called again by the engine so that a static library keeps it.
void install_graph_providers() noexcept;

}  // namespace wengert
