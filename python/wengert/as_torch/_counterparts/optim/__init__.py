"""``torch.optim``, of which packages use more than is public."""
