// The walk of the cyclic collector through the graph. The rule is in tensor_gc.cpp.
#pragma once

#include <Python.h>

#include "graph/saved_variable.h"
#include "ops/accumulate_grad.h"
#include "ops/copy_slices.h"
#include "python/autograd/nodes/saved_fields.h"

namespace wengert::python {

// f(TensorImpl* or Node*) once for each reference of that kind that `impl`, or `node`, owns.
template <class F>
void for_each_owned(TensorImpl* impl, F&& f);
template <class F>
void for_each_owned(Node* node, F&& f);

// Visits the Python objects that `impl`, or `node`, keeps alive, itself or through what it alone owns. Call only for what
// the caller alone owns, or for what the collector sees (shared_objects.h).
int traverse_impl(TensorImpl* impl, visitproc visit, void* arg);
int traverse_node(Node* node, visitproc visit, void* arg);
// Breaks rings through it; the object stays valid.
void clear_impl(TensorImpl* impl) noexcept;
void clear_node(Node* node) noexcept;

template <class F>
void for_each_owned(TensorImpl* impl, F&& f) {
    auto owned = [&](const auto& reference) {
        if constexpr (std::is_same_v<std::decay_t<decltype(reference)>, Tensor>) {
            if (reference.defined()) f(reference.impl());
        } else {
            if (reference) f(reference.get());
        }
    };
    AutogradMeta* meta = meta_of(impl);
    if (!meta) return;
    owned(meta->grad);
    owned(meta->grad_fn);
    if (const AutogradMeta::Extras* extras = meta->extras.get()) {
        owned(extras->kept_accumulator);
        if (extras->batched) owned(extras->batched->value);
    }
    if (meta->view) {
        owned(meta->view->base);
        owned(meta->view->forward_base);
    }
}

template <class F>
void for_each_owned(Node* node, F&& f) {
    for (const Edge& e : node->next_edges())
        if (e.function) f(e.function.get());
    for_each_saved(node, [&](SavedVariable& v) {
        if (v.peek().defined()) f(v.peek().impl());
        if (const Edge* edge = v.edge(); edge && edge->function) f(edge->function.get());
    });
    if (auto* leaf = dynamic_cast<AccumulateGrad*>(node)) f(leaf->variable().impl());
    if (auto* slices = dynamic_cast<CopySlices*>(node)) f(slices->wrapped().get());
}

}  // namespace wengert::python
