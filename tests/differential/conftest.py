"""What all differential tests share."""


def pytest_configure(config):
    """Let PyTorch's C++ code warn: it does so once a process, so which test would fail depends on their order."""
    config.addinivalue_line("filterwarnings", r"ignore:(.|\n)*\(Triggered internally")
