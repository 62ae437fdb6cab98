"""A convolutional classifier of handwritten digits, with batches, dropout at rate 0, a schedule and early stopping."""

import numpy as np
import torch
import torch.nn.functional as F
from common import fill, show
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)

digits = load_digits()
images = torch.from_numpy(digits.images[:320] / 16.0).unsqueeze(1)
labels = torch.from_numpy(digits.target[:320].astype(np.int64))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1, bias=False), nn.GroupNorm(4, 16), nn.GELU(), nn.AdaptiveAvgPool2d(2),
        )  # fmt: skip
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.0), nn.Linear(64, 10))

    def forward(self, x):
        return self.head(self.features(x))


model = fill(Classifier(), scale=0.2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=20)
batches = DataLoader(TensorDataset(images[:256], labels[:256]), batch_size=64)
for _ in range(4):
    model.train()
    for x, y in batches:
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(x), y, label_smoothing=0.05)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        schedule.step()
        show(loss)
    model.eval()
    with torch.no_grad():
        scores = model(images[256:])
        show(F.cross_entropy(scores, labels[256:]), (scores.argmax(1) == labels[256:]).double().mean())
show(*model.state_dict().values())
