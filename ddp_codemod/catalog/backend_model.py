"""The schema of rules/backends.toml: the names under which torch and its plugins know backends."""

from msgspec import field

from ddp_codemod.catalog.entry import Name, RuleEntry, When
from ddp_codemod.catalog.model import FactValue


class Doubt(RuleEntry, frozen=True, kw_only=True):
    """The reason why a known backend that works still needs review."""

    facts: dict[str, FactValue] = field(default_factory=dict)  # on platforms that have these
    when: When = field(default_factory=dict)  # for these versions
    text: str  # a clause
    text_zh: str = ""
    source: tuple[Name, ...] = ()


class Backend(RuleEntry, frozen=True, kw_only=True):
    """A c10d backend name that torch or a plugin knows.

    ``device:name`` is another backend with an existing name, for that device.
    """

    name: Name
    devices: tuple[str, ...]
    specific: bool = False  # code that names it has chosen that hardware on purpose
    usual: bool = False  # what code is written for that does not say: where nothing tells which name arrives, it may be this one
    plugins: tuple[str, ...] = ()  # modules that supply it, or its devices: code that uses one runs on that hardware only
    enum: bool  # torch.distributed.Backend has the upper-case attribute without any plugin
    store: bool = True  # the processes of a group find each other through a store
    makers: tuple[Name, ...] = ()  # functions of its C library that make a group past torch, and dotted names of Python that do
    like: str = ""  # a backend of the same library: it works where that one does ...
    facts: dict[str, FactValue] = field(default_factory=dict)  # ... unless the platform says otherwise of one of these,
    since: When = field(default_factory=dict)  # ... and with versions that know the name,
    package: str = ""  # ... in projects that speak of this package, without which torch does not know the name
    why: str = ""  # a clause: why it is replaced where the other works
    why_zh: str = ""
    doubts: tuple[Doubt, ...] = ()
    source: tuple[Name, ...]


class BackendFile(RuleEntry, frozen=True, kw_only=True):
    """rules/backends.toml"""

    backend: tuple[Backend, ...]
