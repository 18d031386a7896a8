"""Backends that are another one's library under a name of their own, known to some releases or beside some package only."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.catalog.backend_model import Backend, Doubt
from ddp_codemod.catalog.backends import find_backends
from ddp_codemod.catalog.model import BackendChoice
from ddp_codemod.dataflow.values import Value
from ddp_codemod.model import Reason
from ddp_codemod.policy.findings import Context


class BackendStatus(Struct, frozen=True):
    """How a backend string is in a project: ``choice`` is the platform's without the names that the project does not have."""

    choice: BackendChoice
    packages: frozenset[str]
    missing: Backend | None = None
    doubt: Doubt | None = None
    open: Backend | None = None  # known to some of the versions that the project admits

    def explain_objection(self, context: Context, text: str, wanted: str | None) -> Reason | None:
        """Why a review is needed of a string that would stay, or become what it is."""
        arguments = {"value": text, "platform": context.platform.id}
        if wanted is not None and wanted == text.lower():
            return Reason.of("review-namesake", packages=", ".join(sorted(self.packages)), **arguments)
        if wanted is None and self.doubt is not None:
            return Reason.of("review-doubt", why=self.doubt.text, why_zh=self.doubt.text_zh or self.doubt.text, **arguments)
        return None


def judge_backend(context: Context, source: Value, text: str) -> BackendStatus:
    """How a backend string that is at a source is to be judged, with the project's versions and packages."""
    backends, file = context.rules.backends, source.module.name
    packages = frozenset(one.package for one in backends.values() if one.package and _has_mention_in_file(source, one.package))
    stands = BackendStatus(context.platform.backend, packages)
    gone = []
    for one in find_backends(text, backends, packages):
        if one.name not in stands.choice.works:
            continue
        known = context.versions.holds(one.since, file) if one.since else True
        if known is False or (one.package and not (one.package in packages or _is_package_used(context, one.package))):
            gone.append(one)
        elif (doubt := next((doubt for doubt in one.doubts if _is_doubt_active(context, doubt, file)), None)) is not None:
            stands = replace(stands, doubt=stands.doubt or doubt)
        elif known is None:
            stands = replace(stands, open=one)
    works = tuple(name for name in stands.choice.works if name not in {one.name for one in gone})
    return replace(stands, choice=replace(stands.choice, works=works), missing=gone[0] if gone else None)


def explain_missing_name(context: Context, source: Value, text: str) -> dict[str, str]:
    """What a reason says about a name that the platform has, and that this project's torch does not; {} for any other."""
    missing = judge_backend(context, source, text).missing
    return {"why": missing.why, "why_zh": missing.why_zh or missing.why} if missing is not None else {}


def explain_limited_versions(context: Context, source: Value, text: str) -> Reason | None:
    """What is reported of a name that stays, and that only some of the versions know which the project admits."""
    known = judge_backend(context, source, text).open
    if known is None:
        return None
    versions = ", ".join(f"{package} {condition}" for package, condition in known.since.items())
    return Reason.of("keep-since", value=text, platform=context.platform.id, versions=versions)


def _is_doubt_active(context: Context, doubt: Doubt, file: str) -> bool:
    facts = context.platform.facts
    return (
        all(facts.get(name) == value for name, value in doubt.facts.items())
        and context.versions.holds(doubt.when, file) is not False
    )


def _has_mention_in_file(source: Value, package: str) -> bool:
    """Whether a file speaks of a package, also in the name of a variable or setting that switches it on."""
    return source.module.source.contains_word(package)


def _is_package_used(context: Context, package: str) -> bool:
    """Whether any program or launch file of the project speaks of a package."""
    project, known = context.tracer.resolver.project, context.tracer.memory.setdefault("packages that are used", {})
    if package not in known:
        known[package] = any(package.encode() in project.data(name).lower() for name in (*project.names, *project.launchers))
    return bool(known[package])
