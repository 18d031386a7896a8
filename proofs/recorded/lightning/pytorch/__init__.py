# ruff: noqa
from lightning.pytorch import strategies
from lightning.strategies import choose
from torch._record import recorded
from torch.nn import Module


class LightningModule(Module):
    pass


class LightningDataModule:
    pass


@recorded("lightning.pytorch.Trainer")
def _asked(
    accelerator, strategy, find_unused_parameters, devices, num_nodes, precision, max_epochs, logger, accumulate_grad_batches
):
    """What is asked for; the strategy is the one that was chosen."""


class Trainer:
    def __init__(
        self,
        accelerator="auto",
        strategy="auto",
        devices="auto",
        num_nodes=1,
        precision=None,
        max_epochs=None,
        logger=None,
        callbacks=None,
        fast_dev_run=False,
        enable_checkpointing=None,
        accumulate_grad_batches=1,
    ):
        self.accelerator, self.strategy = accelerator, choose(strategy, devices, num_nodes, accelerator)
        _asked(
            accelerator,
            self.strategy,
            self.strategy.find_unused_parameters,
            devices,
            num_nodes,
            precision,
            max_epochs,
            logger,
            accumulate_grad_batches,
        )

    def fit(self, model, *data, **more):
        self.strategy.setup_environment(self.accelerator)
        print("fitted with", self.strategy)

    def test(self, model=None, *data, **more):
        self.strategy.setup_environment(self.accelerator)


def seed_everything(seed, workers=False):
    return seed
