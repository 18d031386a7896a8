# ruff: noqa
from lightning.fabric import strategies
from lightning.strategies import choose
from torch._record import recorded


@recorded("lightning.fabric.Fabric")
def _asked(accelerator, strategy, find_unused_parameters, devices, num_nodes, precision):
    """What is asked for; the strategy is the one that was chosen."""


class Fabric:
    def __init__(self, *, accelerator="auto", strategy="auto", devices="auto", num_nodes=1, precision=None):
        self.accelerator, self.strategy = accelerator, choose(strategy, devices, num_nodes, accelerator)
        _asked(accelerator, self.strategy, self.strategy.find_unused_parameters, devices, num_nodes, precision)

    def launch(self, function=None, *words):
        self.strategy.setup_environment(self.accelerator)
        return function(self, *words) if function else None

    def setup(self, *models):
        return models if len(models) > 1 else models[0]

    def print(self, *words):
        print(*words)
