"""Record anew what the programs show: python -m tests.differential (needs PyTorch)."""

import torch

from tests.differential.observation import record

record(torch)
