"""``torch.distributions``, of which packages use more than is public."""
