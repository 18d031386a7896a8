# ruff: noqa
class _Cudnn:
    benchmark = False
    deterministic = False


cudnn = _Cudnn()
