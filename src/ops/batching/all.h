// Everything that generated operations call on batches.
#pragma once

#include "ops/batching/batch.h"
#include "ops/batching/error.h"
#include "ops/batching/indexing/along.h"
#include "ops/batching/indexing/indexing.h"
#include "ops/batching/indexing/masks.h"
#include "ops/batching/indexing/searching.h"
#include "ops/batching/indexing/tables.h"
#include "ops/batching/linalg/products.h"
#include "ops/batching/linalg/systems.h"
#include "ops/batching/nn/convolution.h"
#include "ops/batching/nn/losses.h"
#include "ops/batching/nn/merged.h"
#include "ops/batching/nn/normalization.h"
#include "ops/batching/rules.h"
#include "ops/batching/shape/regions.h"
#include "ops/batching/shape/shapes.h"
