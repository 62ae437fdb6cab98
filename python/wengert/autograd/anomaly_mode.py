"""Anomaly mode; see `wengert.autograd._modes.anomaly`."""

from ._modes.anomaly import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
