"""Anomaly mode; see `wengert.autograd._anomaly`."""

from ._anomaly import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
