"""A causal transformer as a language model, with tied weights, warm-up and gradient accumulation."""

import math

import torch
from common import fill, show
from torch import nn
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)

codes = torch.tensor([(i * i + i // 3) % 11 for i in range(160)])


class LanguageModel(nn.Module):
    def __init__(self, vocabulary=11, size=16, heads=4, length=20):
        super().__init__()
        self.token = nn.Embedding(vocabulary, size)
        position = torch.arange(length)[:, None] * torch.exp(torch.arange(0, size, 2) * (-math.log(1e4) / size))
        self.register_buffer("position", torch.cat([position.sin(), position.cos()], dim=1))
        layer = nn.TransformerEncoderLayer(
            size, heads, 32, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(layer, num_layers=2, norm=nn.LayerNorm(size), enable_nested_tensor=False)
        self.read = nn.Linear(size, vocabulary, bias=False)
        self.read.weight = self.token.weight

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        hidden = self.token(x) + self.position[: x.shape[1]].to(self.token.weight)
        return self.read(self.blocks(hidden, mask=mask, is_causal=True))


model = fill(LanguageModel(), scale=0.2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95))
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 4))
for step in range(8):
    for part in range(2):
        windows = codes.unfold(0, 21, 7)[(step + part) % 2 :: 2]
        loss = F.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten()) / 2
        loss.backward()
        show(loss)
    optimizer.step()
    optimizer.zero_grad()
    schedule.step()
show(*model.parameters())
