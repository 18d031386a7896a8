# ruff: noqa
from torch._record import recorded
from torch.nn import Module


class DistributedDataParallel(Module):
    @recorded("torch.nn.parallel.DistributedDataParallel")
    def __init__(
        self,
        module,
        device_ids=None,
        output_device=None,
        broadcast_buffers=True,
        process_group=None,
        bucket_cap_mb=None,
        find_unused_parameters=False,
        gradient_as_bucket_view=False,
        static_graph=False,
    ):
        self.module = module

    def forward(self, value=None):
        return self.module(value)

    def state_dict(self):
        return self.module.state_dict()
