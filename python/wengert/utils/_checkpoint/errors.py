"""What goes wrong with checkpoints."""


class CheckpointError(RuntimeError):
    """The recomputation does not fit the forward pass, or a saved tensor was asked for too often."""


class StopRecomputation(BaseException):
    """Ends a recomputation that has all it needs. Not an Exception, so that user code does not catch it."""
