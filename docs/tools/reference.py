"""The rule reference, made from the rule data alone: platforms, surfaces, rules and diagnostics, in both languages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import unified_diff
from pathlib import Path

from ddp_codemod.catalog.advisory import AdviceExample
from ddp_codemod.catalog.diagnostics import load_diagnostics
from ddp_codemod.catalog.files import data_folder
from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.load import load
from ddp_codemod.catalog.model import Example, Parameter, Platform
from ddp_codemod.catalog.signature import Signature
from ddp_codemod.messages import in_language
from ddp_codemod.toml import tomllib

# where the entries of each page lie below rules/
FOLDERS = {
    "platforms": "platforms",
    "surfaces": "surfaces",
    "rules": "fixes",
    "diagnostics": "diagnostics",
    "advisories": "advisories",
}
WORDS = {
    "platforms": ("Platforms", "平台"),
    "surfaces": ("Surfaces", "接口"),
    "rules": ("Rules", "规则"),
    "diagnostics": ("Known errors", "已知错误"),
    "made": ("Made from the files below `rules/`.", "根据 `rules/` 中的文件生成。"),
    "compared": ("The newest releases that they were compared with: ", "核对过的最新版本："),
    "wanted": ("backend", "目标后端"),
    "works": ("works too", "也可用"),
    "default": ("torch's default", "省略时 torch 采用"),
    "brings": ("enables the rules", "带有规则"),
    "brought": ("enabled by", "随平台"),
    "asked": ("only with `--rule {}`", "仅在指定时使用：`--rule {}`"),
    "assumes": ("default platform", "推定的平台"),
    "import": ("needs the import", "需要导入"),
    "fact": ("fact", "事实"),
    "value": ("value", "取值"),
    "notes": ("Notes", "给出的说明"),
    "sources": ("Sources", "来源"),
    "examples": ("Examples", "示例"),
    "stays": ("no change needed", "保持不变"),
    "names": ("Names", "名称"),
    "parameter": ("parameter", "参数"),
    "role": ("role", "作用"),
    "position": ("position", "位置"),
    "omitted": ("default", "省略时"),
    "keyword": ("keyword only", "仅关键字"),
    "cure": ("What to do", "处理方法"),
    "pattern": ("Seen as", "日志特征"),
    "applicability": ("applicability", "适用性"),
    "advisories": ("What a change of platform breaks", "切换后不再成立的内容"),
    "holds": ("where", "适用于"),
    "switched": ("groups that change to {}", "切换到 {} 的进程组"),
    "review": ("needs review where no fix applies", "无法自动修改处需人工处理"),
    "edits": ("edit", "修改"),
    "truthy": ("true in a condition", "条件中为真"),
}
OMITTED = {
    "platform-default": ("torch's choice for the device", "torch 按设备选择"),
    "inherits": ("the default group's", "与默认进程组相同"),
    "nothing": ("no process group, or one that needs nothing", "不建立进程组，或无需处理"),
    "no-site": ("no site", "不是调用点"),
}


class Words:
    """Labels of one language."""

    def __init__(self, lang: str) -> None:
        self.lang, self.at = lang, int(lang == "zh")

    def __call__(self, key: str) -> str:
        return WORDS[key][self.at]

    @property
    def stop(self) -> str:
        """What ends a sentence."""
        return "。" if self.lang == "zh" else "."

    def of(self, entry: object, attribute: str) -> str:
        """A text of rule data."""
        return in_language(entry, attribute, self.lang)


def files(folder: Path) -> dict[Path, str]:
    """Every page of the reference."""
    found = {}
    for lang, suffix in (("en", ".md"), ("zh", ".zh-CN.md")):
        say = Words(lang)
        for kind, lines in PAGES.items():
            head = [f"# {say(kind)}", "", f"{say('made')} {say('compared')}{load().compared}{say.stop}", ""]
            found[folder / f"{kind}{suffix}"] = "\n".join([*head, *lines(say)]).rstrip("\n") + "\n"
    return found


def _platforms(say: Words) -> Iterator[str]:
    for ident, platform in sorted(load().platforms.items()):
        yield from (f"## {ident}", "", f"{say.of(platform, 'title')}", "", f"{_sentence(say.of(platform, 'why'), say)}", "")
        yield from _platform(platform, say)


def _platform(platform: Platform, say: Words) -> Iterator[str]:
    backend = platform.backend
    yield f"- {say('wanted')}: `{backend.wanted}`; {say('works')}: {_codes(name for name in backend.works if name != backend.wanted)}"
    yield f"- {say('default')}: `{backend.default or '-'}`"
    yield f"- {say('brings')}: {_codes(platform.rules, 'rules', say)}"
    if platform.required_import:
        yield f"- {say('import')}: `{platform.required_import}`"
    yield from ("", f"| {say('fact')} | {say('value')} |", "|---|---|")
    own = tomllib.loads((data_folder() / f"platforms/{platform.id}.toml").read_text("utf-8"))["facts"]
    for name, value in own.items():
        yield f"| `{name}` | {_value(value, say)} |"
    if platform.warnings:
        yield from ("", f"{say('notes')}:", "")
        yield from (f"- `{one.id}`: {say.of(one, 'message')}" for one in platform.warnings)
    yield from _tail(platform.source, platform.examples, say)


def _value(value: object, say: Words) -> str:
    if isinstance(value, dict):
        return say("truthy") if value.get("truthy") else "`None`"
    return f"`{value!r}`"


def _surfaces(say: Words) -> Iterator[str]:
    for ident, surface in sorted(load().surfaces.items()):
        note = say.of(surface, "note")
        yield from (f"## {ident}", "", *([note, ""] if note else []))
        yield f"{say('names')}: {_codes(surface.called)}"
        if surface.parameters:
            yield from ("", f"| {say('parameter')} | {say('role')} | {say('position')} | {say('omitted')} |", "|---|---|---|---|")
            yield from (_parameter(parameter, say) for parameter in surface.parameters)
        yield from _tail(surface.source, surface.examples, say)


def _parameter(parameter: Parameter, say: Words) -> str:
    position = say("keyword") if parameter.position is None else str(parameter.position)
    omitted = OMITTED[parameter.omitted][say.at] if parameter.omitted_value is None else f"`{parameter.omitted_value}`"
    return f"| `{parameter.name}` | {parameter.role} | {position} | {omitted} |"


def _rules(say: Words) -> Iterator[str]:
    known = load()
    for ident, fix in sorted(known.fixes.items()):
        yield from (f"## {ident}", "", say.of(fix, "title"), "", *_paragraphs(say.of(fix, "text")), "")
        bringing = [platform.id for platform in known.platforms.values() if ident in platform.rules]
        yield (
            f"- {say('brought')}: {_codes(sorted(bringing), 'platforms', say)}" if bringing else f"- {say('asked').format(ident)}"
        )
        if fix.platform:
            yield f"- {say('assumes')}: {_codes([fix.platform], 'platforms', say)}"
        yield f"- {say('applicability')}: {fix.applicability}"
        yield from _tail(fix.source, _of_rule(fix), say)


def _of_rule(fix: Fix) -> tuple[Example, ...]:
    return fix.examples


def _diagnostics(say: Words) -> Iterator[str]:
    for ident, signature in sorted(load_diagnostics().signatures.items()):
        yield from (f"## {ident}", "", f"**{say.of(signature, 'title')}{say.stop}** {say.of(signature, 'cause')}", "")
        yield from (
            f"{say('pattern')}:",
            "",
            *(f"    {line}" for line in signature.hit[0].splitlines()),
            "",
            f"{say('cure')}:",
            "",
        )
        yield from _cures(signature, say)
        yield from ("", *_sources(signature.source, say), "")


def _cures(signature: Signature, say: Words) -> Iterator[str]:
    for cure in signature.cure:
        words = ["ddp-codemod apply ."]
        words += [f"--platform {cure.platform}"] if cure.platform else []
        words += [f"--rule {rule}" for rule in cure.rules] + ["--unsafe"] * cure.unsafe
        command = f"`{' '.join(words)}`" if len(words) > 1 else ""
        yield "- " + " ".join(part for part in (say.of(cure, "text") if cure.text else "", command) if part)


def _advisories(say: Words) -> Iterator[str]:
    known = load()
    for ident, advice in sorted(known.advice.items()):
        yield from (f"## {ident}", "", f"**{say.of(advice, 'title')}{say.stop}** {say.of(advice, 'text')}", "")
        conditions = [f"{package} {condition}" for package, condition in advice.when.items()]
        conditions += [say("switched").format(_codes(advice.backend))] if advice.backend else []
        conditions += (
            [_codes(known.fitting(advice.on), "platforms", say)] if advice.on else [_codes(advice.devices)] * bool(advice.devices)
        )
        yield f"- {say('holds')}: {'; '.join(conditions) or '-'}"
        if advice.rewrite is not None:
            yield f"- {say('edits')}: `{advice.rewrite.recipe}` ({advice.rewrite.applicability})"
        if advice.level == "review":
            yield f"- {say('review')}"
        yield from _tail(advice.source, tuple(advice.examples), say)


PAGES: dict[str, Callable[[Words], Iterator[str]]] = {
    "platforms": _platforms,
    "surfaces": _surfaces,
    "rules": _rules,
    "advisories": _advisories,
    "diagnostics": _diagnostics,
}


def _tail(sources: Iterable[str], examples: tuple[Example | AdviceExample, ...], say: Words) -> Iterator[str]:
    yield from ("", *_sources(sources, say), "")
    if examples:
        yield from (f"<details><summary>{say('examples')} ({len(examples)})</summary>", "")
        for example in examples:
            stays = f" ({say('stays')})" if example.after is None else ""
            where = f" ({example.platform})" if example.platform else ""
            yield from (f"{example.title}{where}{stays}", "", *_example(example), "")
        yield from ("</details>", "")


def _example(example: Example | AdviceExample) -> list[str]:
    before = example.before.strip("\n").splitlines()
    if example.after is None:
        return ["```python", *before, "```"]
    after = example.after.strip("\n").splitlines()
    return ["```diff", *list(unified_diff(before, after, lineterm="", n=len(before)))[3:], "```"]


def _sources(sources: Iterable[str], say: Words) -> list[str]:
    return [f"{say('sources')}: {', '.join(f'<{source}>' if ':' in source else source for source in sources)}"]


def _codes(names: Iterable[str], page: str = "", say: Words | None = None) -> str:
    suffix = ".zh-CN.md" if say is not None and say.at else ".md"
    linked = (f"[`{name}`]({page}{suffix}#{name})" if page else f"`{name}`" for name in names)
    return ", ".join(linked) or "-"


def _paragraphs(said: str) -> list[str]:
    return said.strip().splitlines()


def _sentence(said: str, say: Words) -> str:
    return said[:1].upper() + said[1:] + ("。" if say.at else ".")
