"""What holds for every shipped rule file, beyond its schema."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from ddp_codemod import toml
from ddp_codemod.catalog.advisory import Advice, AdviceExample
from ddp_codemod.catalog.backend_model import Backend
from ddp_codemod.catalog.files import data_folder
from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.load import load
from ddp_codemod.catalog.model import Fact, Parameter, Platform, Surface
from ddp_codemod.machine.detect import CHECKS
from ddp_codemod.run.examples import Case, find_cases

RULES = load()
PLATFORMS = list(RULES.platforms.values())
SURFACES = list(RULES.surfaces.values())
FIXES = list(RULES.fixes.values())
ENTRIES = [*PLATFORMS, *SURFACES, *FIXES]
CHINESE = re.compile(r"[\u4e00-\u9fff]")

each_platform = pytest.mark.parametrize("platform", PLATFORMS, ids=lambda entry: entry.id)
each_surface = pytest.mark.parametrize("surface", SURFACES, ids=lambda entry: entry.id)
each_fix = pytest.mark.parametrize("fix", FIXES, ids=lambda entry: entry.id)
each_advice = pytest.mark.parametrize("advice", RULES.advice.values(), ids=lambda entry: entry.id)
each_case = pytest.mark.parametrize("case", list(find_cases(RULES)), ids=lambda case: case.id)


def test_the_platforms_and_rules_that_the_documentation_names() -> None:
    assert set(RULES.platforms) >= {"rocm", "rocm-rccl", "windows", "cpu", "macos", "cuda", "mixed-gpu", "ascend"}
    assert set(RULES.fixes) >= {"unsupported-backend", "no-libuv", "nccl-p2p-off", "nccl-ib-off", "nccl-debug", "nccl-shm"}


@pytest.mark.parametrize("kind", ["platforms", "fixes"])
def test_a_file_is_named_as_its_id(kind: str) -> None:
    table = RULES.platforms if kind == "platforms" else RULES.fixes
    assert {path.stem for path in (data_folder() / kind).glob("*.toml")} == set(table)


def test_a_surface_id_starts_with_a_word_of_its_framework() -> None:
    assert all(re.fullmatch(r"[a-z]+2?\.\w+", surface.id) for surface in SURFACES)


@pytest.mark.parametrize("entry", [*ENTRIES, *RULES.backends.values()], ids=lambda entry: getattr(entry, "id", "backend"))
def test_every_entry_has_a_source_that_is_a_link(entry: Platform | Surface | Fix | Backend) -> None:
    assert entry.source
    assert all(re.fullmatch(r"https?://[^\s/]+/\S*", link) for link in entry.source)


CALLED_CUDA = {"rocm", "metax", "kunlunxin", "hygon", "iluvatar", "thead"}  # other makers' accelerators that torch calls cuda


@each_platform
def test_every_warning_has_a_source_that_is_a_link(platform: Platform) -> None:
    for warning in platform.warnings:
        assert warning.source
        assert all(re.fullmatch(r"https?://[^\s/]+/\S*", link) for link in warning.source)
        assert warning.when_backend in platform.backend.works


@each_platform
def test_a_platform_wants_what_works(platform: Platform) -> None:
    choice = platform.backend
    assert choice.wanted in choice.works
    assert set(choice.wanted_for.values()) <= set(choice.works)
    assert {*choice.works, choice.default} <= set(RULES.backends)


@each_platform
def test_the_wanted_backend_serves_a_device_that_the_platform_renames_to(platform: Platform) -> None:
    serves = RULES.backends[platform.backend.wanted].devices
    assert set(platform.backend.devices.values()) <= set(serves)
    for device, backend in platform.backend.wanted_for.items():
        assert device in RULES.backends[backend].devices


@each_platform
def test_a_platform_that_needs_a_plugin_says_so(platform: Platform) -> None:
    # npu, mlu, musa and hpu live in packages of their own; cpu, cuda, xpu and mps are torch's
    own = {"cpu", "cuda", "xpu", "mps"} & set(RULES.backends[platform.backend.wanted].devices)
    assert (platform.required_import is None) == bool(own)


@each_platform
def test_detection_asks_only_for_checks_that_exist(platform: Platform) -> None:
    for detection in platform.detection:
        assert set(detection.checks) <= set(CHECKS)
        assert detection.reason
        assert CHINESE.search(detection.reason_zh)


@each_platform
def test_the_wanted_backend_serves_a_device_of_the_machine(platform: Platform) -> None:
    serves = set(RULES.backends[platform.backend.wanted].devices)
    assert serves & set(platform.device_types)
    assert "cpu" in platform.device_types


def test_what_a_machine_cannot_show_is_never_detected() -> None:
    # a laptop and a login node look like "cpu", and unlike GPUs that work look like those that do not
    assert not RULES.platforms["cpu"].detection
    assert not RULES.platforms["mixed-gpu"].detection


@each_platform
def test_facts_agree_with_what_works(platform: Platform) -> None:
    facts = platform.facts
    assert facts.get("torch.distributed.is_gloo_available()", True) is True
    if platform.backend.wanted == "nccl":
        assert facts["torch.distributed.is_nccl_available()"] is True
    if facts.get("torch.distributed.is_nccl_available()") is False:
        assert "nccl" not in platform.backend.works
    cuda, hip = facts.get("torch.version.cuda"), facts.get("torch.version.hip")
    assert not (cuda == Fact(truthy=True) and hip == Fact(truthy=True))
    if facts.get("torch.cuda.is_available()") is False:
        assert facts["torch.cuda.device_count()"] == 0


@each_platform
def test_facts_of_the_system_belong_together(platform: Platform) -> None:
    found = tuple(platform.facts.get(key) for key in ("os.name", "sys.platform", "platform.system()"))
    assert (found == (None, None, None)) == bool(platform.offered)  # what is offered beside another may be under any system
    assert not any(found) or found in {("posix", "linux", "Linux"), ("posix", "darwin", "Darwin"), ("nt", "win32", "Windows")}


@each_platform
def test_facts_are_dotted_names_or_calls_without_arguments(platform: Platform) -> None:
    assert all(re.fullmatch(r"\w+(\.\w+)+(\(\))?", key) for key in platform.facts)


@pytest.mark.parametrize("key", ["torch.cuda.is_available()", "torch.version.hip", "torch.distributed.is_xccl_available()"])
def test_what_is_not_sure_on_windows_is_no_fact_of_it(key: str) -> None:
    assert key not in RULES.platforms["windows"].facts


def test_transfer_to_npu_leaves_cuda_open_on_ascend() -> None:
    assert "torch.cuda.is_available()" not in RULES.platforms["ascend"].facts


@each_platform
def test_the_reason_of_a_platform_completes_a_sentence(platform: Platform) -> None:
    assert not platform.why.endswith(".")
    assert not platform.why_zh.endswith("。")
    assert "\n" not in platform.why + platform.why_zh


@pytest.mark.parametrize("entry", [*PLATFORMS, *FIXES], ids=lambda entry: entry.id)
def test_what_a_reader_sees_is_there_in_chinese(entry: Platform | Fix) -> None:
    texts = [entry.title_zh, entry.why_zh if isinstance(entry, Platform) else entry.text_zh]
    texts += [warning.message_zh for warning in entry.warnings] if isinstance(entry, Platform) else []
    assert all(CHINESE.search(text) for text in texts)


@each_surface
def test_the_sentences_of_a_surface_come_in_both_languages(surface: Surface) -> None:
    pairs = [(surface.note, surface.note_zh)]
    for parameter in surface.parameters:
        pairs += [(parameter.ignored or "", parameter.ignored_zh or ""), (parameter.foreign or "", parameter.foreign_zh or "")]
        assert parameter.ignored or not parameter.ignored_on
    assert all(bool(english) == bool(chinese) for english, chinese in pairs)


@each_platform
def test_a_platform_says_what_its_machines_are(platform: Platform) -> None:
    systems = {"Linux": "linux", "Windows": "windows", "Darwin": "macos"}
    assert platform.machine.systems
    assert platform.machine.accelerators
    if (system := platform.facts.get("platform.system()")) is not None:
        assert platform.machine.systems == (systems[str(system)],)
    devices = {"cuda" if name in CALLED_CUDA else name for name in platform.machine.accelerators} - {"none"}
    assert devices <= set(platform.device_types) | ({"xpu"} if len(devices) > 1 else set())


def lists(value: object) -> Iterator[list[object]]:
    """The lists in what a TOML file holds, but for those of examples."""
    if isinstance(value, list):
        yield value
    parts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    for part in parts:
        yield from lists({key: of for key, of in part.items() if key != "examples"} if isinstance(part, dict) else part)


def test_no_rule_data_but_a_platforms_own_lists_platforms() -> None:
    # such a list leaves out every platform that is added: conditions on its machines do not
    words = {word for one in PLATFORMS for word in (*one.machine.systems, *one.machine.accelerators, *one.device_types)}
    ids = set(RULES.platforms) - words
    assert len(ids) > 3
    paths = [path for path in data_folder().rglob("*.toml") if path.parent.name not in ("platforms", "diagnostics")]
    found = [(path.name, set(map(str, one))) for path in paths for one in lists(toml.loads(path.read_text("utf-8")))]
    assert [(name, one) for name, one in found if ids & one and one <= set(RULES.platforms)] == []


@each_surface
def test_a_handler_is_given_where_one_is_added(surface: Surface) -> None:
    assert all((parameter.add == "handler") == (parameter.handler is not None) for parameter in surface.parameters)


@each_surface
def test_positions_of_a_surface_are_distinct(surface: Surface) -> None:
    positions = [parameter.position for parameter in surface.parameters if parameter.position is not None]
    assert len(positions) == len(set(positions))


@each_fix
def test_a_fix_has_what_its_recipe_needs(fix: Fix) -> None:
    needs = {"replace-backend": (False, False), "init-method-query": (True, True), "set-environment": (False, True)}
    needs["guard-entries"] = needs["pin-requirements"] = needs["import-at-entries"] = (False, False)
    assert bool(fix.statements) == (fix.recipe == "import-at-entries")
    assert set(fix.maps) <= set(RULES.backends)
    assert set(fix.leaves) <= set(RULES.advice)
    assert bool(fix.pins) == (fix.recipe == "pin-requirements")
    assert (fix.query is not None, fix.environment is not None) == needs[fix.recipe]
    assert set(fix.when_backend) <= set(RULES.backends)
    assert set(fix.environment_surfaces) <= set(RULES.surfaces)
    assert fix.platform is None or fix.platform in RULES.platforms


@each_fix
def test_a_fix_that_no_platform_brings_assumes_one(fix: Fix) -> None:
    brought = any(fix.id in platform.rules for platform in PLATFORMS)
    assert brought or fix.platform is not None


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_every_entry_has_examples_that_change_and_that_stay(entry: Platform | Surface | Fix) -> None:
    changing = [example for example in entry.examples if example.after is not None]
    staying = [example for example in entry.examples if example.after is None]
    never = isinstance(entry, Surface) and all(
        (p.ignored and not p.ignored_on) or p.foreign or entry.if_no_group for p in entry.parameters
    )
    assert len(staying) >= 3
    assert len(changing) == 0 if never else len(changing) >= 3


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_titles_of_examples_are_distinct(entry: Platform | Surface | Fix) -> None:
    titles = [example.title for example in entry.examples]
    assert len(titles) == len(set(titles))


@each_case
def test_an_example_is_a_program_before_and_after(case: Case) -> None:
    program = isinstance(case.example, AdviceExample) or case.example.file.endswith(".py")
    ast.parse(case.example.before if program else "")
    assert case.example.before.endswith("\n")
    assert case.platform in RULES.platforms
    assert isinstance(case.example, AdviceExample) or set(case.example.rules) <= set(RULES.fixes)
    if case.example.after is not None:
        ast.parse(case.example.after if program else "")
        assert case.example.after != case.example.before


@each_surface
def test_an_example_uses_its_surface(surface: Surface) -> None:
    dotted = [surface.key or surface.variant_of] if surface.key or surface.variant_of else surface.names
    names = [*(name.rpartition(".")[2] for name in dotted), *surface.commands]
    changing = [example for example in surface.examples if example.after is not None] or list(surface.examples)
    # what is left out of a file of settings stands there afterwards
    assert all(any(name in example.before + (example.after or "") for name in names) for example in changing)


def test_what_the_shared_memory_rule_says_of_its_own_value() -> None:
    fix = RULES.fixes["nccl-shm"]
    assert "default" in fix.text
    assert "--shm-size" in fix.text
    assert "默认值" in fix.text_zh


OBJECTS = [(parameter, surface) for surface in SURFACES for parameter in surface.parameters if parameter.add == "object"]


@pytest.mark.parametrize(("parameter", "surface"), OBJECTS, ids=lambda one: one.id if isinstance(one, Surface) else "")
def test_a_text_for_an_object_has_its_table(parameter: Parameter, surface: Surface) -> None:
    assert parameter.objects is not None
    table = RULES.objects[parameter.objects.table]
    assert parameter.objects.automatic in {entry.text for entry in table}
    for entry in table:
        made = RULES.surfaces[entry.surface]
        assert sum(one.role == "backend" for one in made.parameters) == 1
        top = surface.names[0].partition(".")[0] if surface.names else surface.shown_by[0]
        assert f"{parameter.objects.module}.{made.names[0].rpartition('.')[2]}".startswith(top)
        assert not {one.name for one in made.parameters} & set(entry.arguments)


def test_a_text_means_one_thing_at_each_version() -> None:
    for entries in RULES.objects.values():
        for text in {entry.text for entry in entries}:
            conditions = [entry.when.get("lightning", "") for entry in entries if entry.text == text]
            assert len(conditions) == len(set(conditions)), text
            assert len(conditions) == 1 or set(conditions) == {">=2.0", "<2.0"}, text  # each release has one meaning


@each_advice
def test_an_advice_refers_to_what_exists(advice: Advice) -> None:
    assert advice.source
    assert all(re.fullmatch(r"https?://[^\s/]+/\S*", link) for link in advice.source)
    assert set(advice.backend) <= set(RULES.backends)
    assert not advice.on or RULES.fitting(advice.on)
    assert set(advice.devices) <= {device for platform in PLATFORMS for device in platform.device_types}
    assert advice.rule is None or advice.rule in RULES.fixes
    assert set(advice.when) <= set(RULES.packages)
    assert set(advice.supersedes) <= set(RULES.advice)
    assert advice.id not in RULES.fixes
    assert all(CHINESE.search(said) for said in (advice.title_zh, advice.text_zh))


@each_advice
def test_an_advice_has_examples_where_it_speaks_and_where_it_is_silent(advice: Advice) -> None:
    speaks = [
        "# said" in example.before + example.script + example.settings + example.requirements for example in advice.examples
    ]
    assert any(speaks)
    assert not all(speaks)
    titles = [example.title for example in advice.examples]
    assert len(titles) == len(set(titles))


@each_advice
def test_an_advice_that_edits_shows_what_comes_out(advice: Advice) -> None:
    assert any(example.after is not None or example.settings_after for example in advice.examples) == any(
        form is not None and form.rewrite is not None for form in (advice, advice.own)
    )
