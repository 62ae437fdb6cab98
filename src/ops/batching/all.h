// Everything that generated operations call on batches.
#pragma once

#include "ops/batching/along.h"
#include "ops/batching/batch.h"
#include "ops/batching/convolution.h"
#include "ops/batching/error.h"
#include "ops/batching/indexing.h"
#include "ops/batching/losses.h"
#include "ops/batching/masks.h"
#include "ops/batching/merged.h"
#include "ops/batching/normalization.h"
#include "ops/batching/products.h"
#include "ops/batching/regions.h"
#include "ops/batching/rules.h"
#include "ops/batching/searching.h"
#include "ops/batching/shapes.h"
#include "ops/batching/systems.h"
#include "ops/batching/tables.h"
