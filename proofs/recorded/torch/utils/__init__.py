# ruff: noqa
from torch.utils import data
