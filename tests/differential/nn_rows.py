"""Rows for test_nn.py: how each layer is made, and what it is called with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Whole(NamedTuple):
    """An input of integers in [low, high)."""

    shape: tuple[int, ...]
    low: int
    high: int


class Between(NamedTuple):
    """An input of numbers between two bounds that needs no gradient."""

    shape: tuple[int, ...]
    low: float
    high: float


class Given(NamedTuple):
    """An input given by its values."""

    values: Any


SAMPLES = "torch.tensor([[[.1, .7], [.3, .9]], [[.5, .2], [.99, .0]]], dtype=torch.float64)"
SAMPLES3 = "torch.tensor([[[.1, .7, .4], [.3, .9, .6]]], dtype=torch.float64)"

# Layer, constructor's arguments; then inputs: shapes of normal numbers that require grad, or one of the above.
LAYERS: list[tuple[str, str, list[Any]]] = [
    # linear
    ("Identity", "3, a=4", [(2, 3)]),
    ("Linear", "3, 4", [(2, 3)]),
    ("Linear", "3, 4, bias=False", [(5, 2, 3)]),
    ("Bilinear", "3, 4, 5", [(2, 3), (2, 4)]),
    ("LazyLinear", "4", [(2, 3)]),
    # convolutions
    ("Conv1d", "4, 6, 3", [(2, 4, 9)]),
    ("Conv1d", "4, 6, 3, stride=2, padding=1, dilation=2, groups=2, bias=False", [(4, 9)]),
    ("Conv2d", "3, 4, (2, 3), padding='same'", [(2, 3, 6, 7)]),
    ("Conv2d", "2, 4, 3, padding=(1, 2), padding_mode='reflect'", [(2, 2, 6, 7)]),
    ("Conv2d", "2, 4, 4, padding='same', padding_mode='circular'", [(2, 2, 6, 7)]),
    ("Conv2d", "2, 4, 3, padding=1, padding_mode='replicate', stride=2", [(2, 2, 6, 7)]),
    ("Conv2d", "2, 4, 3, padding='valid', padding_mode='replicate'", [(2, 2, 6, 7)]),
    ("Conv3d", "2, 3, 2, stride=(1, 2, 1)", [(1, 2, 4, 5, 4)]),
    ("ConvTranspose1d", "4, 6, 3, stride=2, padding=1, output_padding=1, groups=2", [(2, 4, 5)]),
    ("ConvTranspose2d", "3, 4, (2, 3), dilation=2, bias=False", [(2, 3, 4, 5)]),
    ("ConvTranspose3d", "2, 3, 2", [(1, 2, 3, 4, 3)]),
    ("LazyConv1d", "4, 3", [(2, 3, 8)]),
    ("LazyConv2d", "4, 3, padding=1, bias=False", [(2, 3, 5, 5)]),
    ("LazyConv3d", "4, 2", [(2, 3, 3, 3, 3)]),
    ("LazyConvTranspose1d", "4, 3", [(2, 3, 5)]),
    ("LazyConvTranspose2d", "4, 3, stride=2", [(2, 3, 3, 3)]),
    ("LazyConvTranspose3d", "4, 2", [(2, 3, 2, 2, 2)]),
    # pooling
    ("MaxPool1d", "2", [(2, 3, 8)]),
    ("MaxPool1d", "3, 2, 1, ceil_mode=True", [(2, 3, 8)]),
    ("MaxPool1d", "2, return_indices=True", [(2, 3, 8)]),
    ("MaxPool2d", "(2, 3), dilation=1, padding=1", [(2, 3, 6, 7)]),
    ("MaxPool2d", "2, return_indices=True", [(2, 3, 6, 6)]),
    ("MaxPool3d", "2, stride=1", [(2, 3, 4, 4, 4)]),
    ("AvgPool1d", "3, stride=2, padding=1, count_include_pad=False", [(2, 3, 8)]),
    ("AvgPool2d", "(2, 3)", [(2, 3, 6, 7)]),
    ("AvgPool2d", "3, 2, ceil_mode=True, divisor_override=5", [(2, 3, 6, 7)]),
    ("AvgPool3d", "2", [(2, 3, 4, 4, 4)]),
    ("LPPool1d", "3, 2", [(2, 3, 8)]),
    ("LPPool2d", "2, (2, 3), stride=1", [(2, 3, 6, 7)]),
    ("LPPool3d", "2, 2", [(2, 3, 4, 4, 4)]),
    ("AdaptiveAvgPool1d", "3", [(2, 3, 8)]),
    ("AdaptiveAvgPool2d", "(2, None)", [(2, 3, 6, 7)]),
    ("AdaptiveAvgPool3d", "2", [(2, 3, 4, 5, 4)]),
    ("AdaptiveMaxPool1d", "3", [(2, 3, 8)]),
    ("AdaptiveMaxPool2d", "(3, 2), return_indices=True", [(2, 3, 6, 7)]),
    ("AdaptiveMaxPool3d", "(2, None, 1)", [(2, 3, 4, 5, 4)]),
    ("MaxUnpool1d", "2", [(1, 2, 3), Given(np.array([[[0, 3, 5], [1, 2, 4]]]))]),
    ("MaxUnpool2d", "2, stride=2", [(1, 1, 2, 2), Given(np.array([[[[0, 3], [9, 14]]]]))]),
    ("MaxUnpool3d", "2", [(1, 1, 1, 1, 2), Given(np.array([[[[[0, 14]]]]]))]),
    ("FractionalMaxPool2d", f"(2, 3), output_size=(3, 2), return_indices=True, _random_samples={SAMPLES}", [
        (2, 2, 7, 8)]),
    ("FractionalMaxPool2d", f"2, output_ratio=0.5, _random_samples={SAMPLES}", [(2, 2, 7, 8)]),
    ("FractionalMaxPool3d", f"2, output_size=(3, 2, 1), return_indices=True, _random_samples={SAMPLES3}", [
        (1, 2, 7, 5, 4)]),
    # norms
    ("BatchNorm1d", "3", [(5, 3)]),
    ("BatchNorm1d", "3, momentum=None, eps=1e-3", [(5, 3, 4)]),
    ("BatchNorm2d", "3, affine=False", [(2, 3, 4, 5)]),
    ("BatchNorm2d", "3, track_running_stats=False", [(2, 3, 4, 5)]),
    ("BatchNorm2d", "3, bias=False", [(2, 3, 4, 5)]),
    ("BatchNorm3d", "2", [(2, 2, 3, 3, 3)]),
    ("LazyBatchNorm1d", "", [(5, 3)]),
    ("LazyBatchNorm2d", "momentum=0.5", [(2, 3, 4, 5)]),
    ("LazyBatchNorm3d", "affine=False", [(2, 3, 2, 2, 2)]),
    ("InstanceNorm1d", "3", [(2, 3, 5)]),
    ("InstanceNorm2d", "3, affine=True, track_running_stats=True", [(2, 3, 4, 5)]),
    ("InstanceNorm2d", "3, affine=True", [(3, 4, 5)]),
    ("InstanceNorm3d", "2", [(2, 2, 3, 3, 3)]),
    ("LazyInstanceNorm1d", "", [(2, 3, 5)]),
    ("LazyInstanceNorm2d", "affine=False", [(2, 3, 4, 5)]),
    ("LazyInstanceNorm3d", "track_running_stats=False", [(2, 3, 2, 2, 2)]),
    ("LayerNorm", "4", [(2, 3, 4)]),
    ("LayerNorm", "(3, 4), eps=1e-3, bias=False", [(2, 3, 4)]),
    ("LayerNorm", "[4], elementwise_affine=False", [(2, 3, 4)]),
    ("GroupNorm", "2, 4", [(2, 4, 5)]),
    ("GroupNorm", "1, 4, affine=False", [(2, 4, 5, 3)]),
    ("RMSNorm", "4", [(2, 3, 4)]),
    ("RMSNorm", "(3, 4), eps=0.1, elementwise_affine=False", [(2, 3, 4)]),
    ("LocalResponseNorm", "2", [(2, 5, 4, 3)]),
    ("LocalResponseNorm", "3, alpha=0.1, beta=0.5, k=2.", [(2, 5, 4)]),
    # activations
    *((name, "", [(3, 4)]) for name in (
        "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
        "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus", "Softshrink", "Softsign", "Tanh",
        "Tanhshrink",
    )),
    ("CELU", "0.5", [(3, 4)]),
    ("ELU", "alpha=2.", [(3, 4)]),
    ("GELU", "approximate='tanh'", [(3, 4)]),
    ("GLU", "dim=0", [(4, 3)]),
    ("Hardshrink", "1.", [(3, 4)]),
    ("Hardtanh", "-2., 0.5", [(3, 4)]),
    ("LeakyReLU", "0.2", [(3, 4)]),
    ("PReLU", "4, init=0.1", [(3, 4)]),
    ("Softplus", "2., 0.5", [(3, 4)]),
    ("Softshrink", "0.1", [(3, 4)]),
    ("Softmax", "dim=1", [(3, 4)]),
    ("Softmin", "0", [(3, 4)]),
    ("LogSoftmax", "-1", [(3, 4)]),
    ("Softmax2d", "", [(3, 4, 5)]),
    ("Threshold", "0.1, -2.", [(3, 4)]),
    # dropout that does nothing
    *((name, "0.", [(2, 3, 4)]) for name in ("Dropout", "Dropout1d", "AlphaDropout", "FeatureAlphaDropout")),
    ("Dropout2d", "p=0.", [(2, 3, 4, 4)]),
    ("Dropout3d", "p=0.", [(2, 3, 2, 2, 2)]),
    # embeddings
    ("Embedding", "7, 3", [Whole((2, 4), 0, 7)]),
    ("Embedding", "7, 3, padding_idx=-2, scale_grad_by_freq=True", [Whole((2, 9), 0, 7)]),
    ("Embedding", "7, 3, max_norm=1.", [Whole((2, 4), 0, 7)]),
    ("EmbeddingBag", "7, 3", [Whole((2, 4), 0, 7)]),
    ("EmbeddingBag", "7, 3, mode='sum'", [Whole((8,), 0, 7), Given(np.array([0, 3, 3]))]),
    ("EmbeddingBag", "7, 3, mode='max'", [Whole((2, 4), 0, 7)]),
    ("EmbeddingBag", "7, 3, mode='sum', include_last_offset=True, padding_idx=1", [
        Whole((8,), 0, 7), Given(np.array([0, 3, 8])), (8,)]),
    # recurrent layers and cells
    ("RNN", "3, 4", [(5, 2, 3)]),
    ("RNN", "3, 4, 2, 'relu', bias=False, bidirectional=True", [(5, 2, 3), (4, 2, 4)]),
    ("LSTM", "3, 4, 2, batch_first=True", [(2, 5, 3)]),
    ("LSTM", "3, 4, 2, bidirectional=True, proj_size=2", [(5, 2, 3)]),
    ("LSTM", "3, 4, bias=False", [(5, 3)]),
    ("GRU", "3, 4, num_layers=2, bidirectional=True, batch_first=True", [(2, 5, 3), (4, 2, 4)]),
    ("GRU", "3, 4, bias=False", [(5, 2, 3)]),
    ("RNNCell", "3, 4", [(2, 3)]),
    ("RNNCell", "3, 4, nonlinearity='relu', bias=False", [(3,), (4,)]),
    ("LSTMCell", "3, 4", [(2, 3)]),
    ("LSTMCell", "3, 4, bias=False", [(3,)]),
    ("GRUCell", "3, 4", [(2, 3), (2, 4)]),
    # attention and transformers
    ("MultiheadAttention", "6, 2", [(3, 2, 6), (4, 2, 6), (4, 2, 6)]),
    ("MultiheadAttention", "6, 2, bias=False, batch_first=True, kdim=3, vdim=5", [(2, 3, 6), (2, 4, 3), (2, 4, 5)]),
    ("MultiheadAttention", "6, 3, add_bias_kv=True, add_zero_attn=True", [(3, 6), (4, 6), (4, 6)]),
    ("TransformerEncoderLayer", "6, 2, 8, 0.", [(3, 2, 6)]),
    ("TransformerEncoderLayer", "6, 2, 8, 0., 'gelu', 1e-3, True, True, False", [(2, 3, 6)]),
    ("TransformerDecoderLayer", "6, 2, 8, 0.", [(3, 2, 6), (4, 2, 6)]),
    ("TransformerDecoderLayer", "6, 2, 8, 0., norm_first=True, batch_first=True", [(2, 3, 6), (2, 4, 6)]),
    ("TransformerEncoder", "nn.TransformerEncoderLayer(6, 2, 8, 0.), 2, nn.LayerNorm(6)", [(3, 2, 6)]),
    ("TransformerDecoder", "nn.TransformerDecoderLayer(6, 2, 8, 0.), 2", [(3, 2, 6), (4, 2, 6)]),
    ("Transformer", "6, 2, 1, 2, 8, 0.", [(3, 2, 6), (4, 2, 6)]),
    # padding
    *((f"{kind}Pad{n}d", "1", [(2, 2, *(3, 4, 3)[:n])]) for kind in ("Circular", "Reflection", "Replication", "Zero")
      for n in (1, 2, 3)),
    *((f"ConstantPad{n}d", "1, 3.5", [(2, *(3, 4, 3)[:n])]) for n in (1, 2, 3)),
    ("ReflectionPad2d", "(1, 2, 0, 1)", [(2, 2, 4, 4)]),
    ("CircularPad2d", "(1, 2, 0, 1)", [(2, 2, 4, 4)]),
    # shapes
    ("Upsample", "scale_factor=2", [(1, 2, 3)]),
    ("Upsample", "size=(5, 6), mode='bilinear', align_corners=True", [(1, 2, 3, 4)]),
    ("Upsample", "scale_factor=(2, 1.5), mode='bicubic'", [(1, 2, 4, 4)]),
    ("UpsamplingNearest2d", "scale_factor=2", [(1, 2, 3, 4)]),
    ("UpsamplingBilinear2d", "size=6", [(1, 2, 3, 4)]),
    ("PixelShuffle", "2", [(1, 8, 2, 3)]),
    ("PixelUnshuffle", "2", [(1, 2, 4, 6)]),
    ("ChannelShuffle", "2", [(1, 4, 3, 3)]),
    ("Flatten", "", [(2, 3, 4)]),
    ("Flatten", "0, 1", [(2, 3, 4)]),
    ("Unflatten", "1, (2, 3)", [(2, 6, 4)]),
    ("Fold", "(4, 5), (2, 2)", [(1, 12, 12)]),
    ("Unfold", "(2, 3), padding=1, stride=2", [(2, 5, 3, 4)]),
    # distances
    ("CosineSimilarity", "", [(3, 4), (3, 4)]),
    ("CosineSimilarity", "dim=0, eps=0.1", [(3, 4), (3, 4)]),
    ("PairwiseDistance", "", [(3, 4), (3, 4)]),
    ("PairwiseDistance", "1., 0.1, True", [(3, 4), (3, 4)]),
    ("AdaptiveLogSoftmaxWithLoss", "8, 10, [3, 6], div_value=2.", [(5, 8), Whole((5,), 0, 10)]),
    ("AdaptiveLogSoftmaxWithLoss", "8, 10, [3, 6], head_bias=True, div_value=2.", [(8,), Whole((), 0, 10)]),
    # containers
    ("Sequential", "nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)", [(2, 3)]),
]  # fmt: skip

SIGNS = Given(np.array([1.0, -1.0, 1.0]))
W3, W4 = "torch.tensor([0.5, 1., 2.], dtype=torch.float64)", "torch.tensor([0.5, 1., 2., 3.], dtype=torch.float64)"

LOSSES: list[tuple[str, str, list[Any]]] = [
    ("L1Loss", "", [(3, 4), (3, 4)]),
    ("MSELoss", "", [(3, 4), (3, 4)]),
    ("SmoothL1Loss", "beta=0.5", [(3, 4), (3, 4)]),
    ("HuberLoss", "delta=0.5", [(3, 4), (3, 4)]),
    ("NLLLoss", "", [(3, 4), Whole((3,), 0, 4)]),
    ("NLLLoss", f"weight={W4}, ignore_index=2", [(3, 4, 2), Whole((3, 2), 0, 4)]),
    ("CrossEntropyLoss", "", [(3, 4), Whole((3,), 0, 4)]),
    ("CrossEntropyLoss", f"{W4}, ignore_index=1, label_smoothing=0.1", [(3, 4, 2), Whole((3, 2), 0, 4)]),
    ("CrossEntropyLoss", "", [(3, 4), Between((3, 4), 0, 1)]),
    ("PoissonNLLLoss", "", [(3, 4), Between((3, 4), 0, 5)]),
    ("PoissonNLLLoss", "full=True, eps=1e-3", [(3, 4), Between((3, 4), 0, 5)]),
    ("GaussianNLLLoss", "", [(3, 4), (3, 4), Between((3, 4), 0.5, 2)]),
    ("GaussianNLLLoss", "full=True, eps=1.", [(3, 4), (3, 4), Between((3, 1), 0.5, 2)]),
    ("KLDivLoss", "", [(3, 4), Between((3, 4), 0.1, 1)]),
    ("KLDivLoss", "log_target=True", [(3, 4), (3, 4)]),
    ("BCEWithLogitsLoss", "", [(3, 4), Between((3, 4), 0, 1)]),
    ("BCEWithLogitsLoss", f"weight={W4}, pos_weight={W4}", [(3, 4), Between((3, 4), 0, 1)]),
    ("HingeEmbeddingLoss", "margin=0.5", [(3,), SIGNS]),
    ("MultiLabelMarginLoss", "", [(3, 4), Given(np.array([[1, 2, -1, 0], [0, -1, 1, 1], [3, 2, 1, 0]]))]),
    ("SoftMarginLoss", "", [(3,), SIGNS]),
    ("MultiLabelSoftMarginLoss", "", [(3, 4), Given(np.eye(3, 4))]),
    ("MultiLabelSoftMarginLoss", f"weight={W4}", [(3, 4), Given(np.eye(3, 4))]),
    ("CosineEmbeddingLoss", "0.1", [(3, 4), (3, 4), SIGNS]),
    ("MarginRankingLoss", "0.2", [(3,), (3,), SIGNS]),
    ("MultiMarginLoss", "", [(3, 4), Whole((3,), 0, 4)]),
    ("MultiMarginLoss", f"2, 0.5, weight={W4}", [(3, 4), Whole((3,), 0, 4)]),
    ("TripletMarginLoss", "", [(3, 4), (3, 4), (3, 4)]),
    ("TripletMarginLoss", "0.5, p=1., swap=True", [(3, 4), (3, 4), (3, 4)]),
    ("TripletMarginWithDistanceLoss", "margin=2., swap=True", [(3, 4), (3, 4), (3, 4)]),
    ("CTCLoss", "", [
        (6, 2, 4), Whole((2, 3), 1, 4), Given(np.array([6, 5])), Given(np.array([3, 2]))]),
    ("CTCLoss", "blank=3, zero_infinity=True", [
        (6, 2, 4), Whole((2, 3), 0, 3), Given(np.array([6, 2])), Given(np.array([3, 3]))]),
    ("LinearCrossEntropyLoss", "5, 4, bias=True", [(3, 5), Whole((3,), 0, 4)]),
]  # fmt: skip
