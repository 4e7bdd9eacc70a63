#!/usr/bin/env python3
"""Writes the projects of this folder anew, the same bytes every time: python3 Fixtures/xcode/make.py"""

import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = "com.apple.security.application-groups"
ACCESS = "keychain-access-groups"
STORE = "com.apple.developer.ubiquity-kvstore-identifier"
SANDBOX = "com.apple.security.app-sandbox"
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
    '<plist version="1.0">\n'
)


def write(path, text):
    path = os.path.join(HERE, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def entitlements(path, **values):
    """A list is an array of strings, True a truth value."""
    keys = {"groups": GROUPS, "access": ACCESS, "store": STORE, "sandbox": SANDBOX}
    body = ""
    for name, value in values.items():
        body += f"\t<key>{keys[name]}</key>\n"
        if value is True:
            body += "\t<true/>\n"
        elif isinstance(value, str):
            body += f"\t<string>{value}</string>\n"
        else:
            body += "\t<array>\n" + "".join(f"\t\t<string>{text}</string>\n" for text in value) + "\t</array>\n"
    write(path, f"{HEAD}<dict>\n{body}</dict>\n</plist>\n")


def quoted(value, depth):
    pad = "\t" * depth
    if isinstance(value, list):
        return "(\n" + "".join(f"{pad}\t{quoted(item, depth + 1)},\n" for item in value) + pad + ")"
    if isinstance(value, dict):
        lines = (f"{pad}\t{quoted(key, 0)} = {quoted(item, depth + 1)};\n" for key, item in sorted(value.items()))
        return "{\n" + "".join(lines) + pad + "}"
    if re.fullmatch(r"[A-Za-z0-9_./]+", value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Project:
    """A project.pbxproj as Xcode writes it, of what matters to signing."""

    def __init__(self, settings, settings_file=None):
        self.objects, self.targets, self.file = {}, {}, None
        if settings_file:
            self.file = self.add("PBXFileReference", path=settings_file, sourceTree="<group>")
        self.lists = self.configurations(settings, self.file)

    def add(self, isa, **fields):
        name = f"A{len(self.objects) + 1:023X}"
        self.objects[name] = {"isa": isa, **fields}
        return name

    def configurations(self, settings, base=None):
        """Settings by configuration, or the same for both."""
        names = []
        for name in ("Debug", "Release"):
            fields = {"buildSettings": settings.get(name, settings), "name": name}
            if base:
                fields["baseConfigurationReference"] = base
            names.append(self.add("XCBuildConfiguration", **fields))
        return self.add("XCConfigurationList", buildConfigurations=names, defaultConfigurationName="Release")

    def target(self, name, kind, settings, holds=()):
        """What it holds has to be there before it."""
        files, dependencies = [], []
        for part in holds:
            target, product = self.targets[part]
            files.append(self.add("PBXBuildFile", fileRef=product))
            dependencies.append(self.add("PBXTargetDependency", target=target))
        phase = self.add("PBXCopyFilesBuildPhase", dstPath="", dstSubfolderSpec="13", files=files, name="Embed")
        product = self.add("PBXFileReference", path=f"{name}.product", sourceTree="BUILT_PRODUCTS_DIR")
        target = self.add(
            "PBXNativeTarget", buildConfigurationList=self.configurations(settings), buildPhases=[phase],
            dependencies=dependencies, name=name, productName=name, productReference=product,
            productType=f"com.apple.product-type.{kind}")
        self.targets[name] = (target, product)

    def write(self, path):
        group = self.add("PBXGroup", children=[self.file] if self.file else [], sourceTree="<group>")
        root = self.add(
            "PBXProject", buildConfigurationList=self.lists, mainGroup=group, projectDirPath="", projectRoot="",
            targets=[target for target, _ in self.targets.values()])
        parts = "".join(f"\t\t{name} = {quoted(fields, 2)};\n" for name, fields in self.objects.items())
        write(path, (
            "// !$*UTF8*$!\n{\n\tarchiveVersion = 1;\n\tclasses = {\n\t};\n\tobjectVersion = 56;\n"
            f"\tobjects = {{\n{parts}\t}};\n\trootObject = {root} /* Project object */;\n}}\n"))


def clean():
    write("clean/Config/Base.xcconfig", (
        "// Settings of every target.\n"
        '#include "Identifiers.xcconfig"\n'
        '#include? "Local.xcconfig"\n\n'
        "PRODUCT_NAME = $(TARGET_NAME)\nCODE_SIGN_STYLE = Automatic;\n"))
    write("clean/Config/Identifiers.xcconfig", (
        "DEVELOPMENT_TEAM = ABCDE12345\n"
        "NOTES_SUFFIX =\nNOTES_SUFFIX[config=Nightly] = .nightly\n"
        "NOTES_ID = com.example.notes$(NOTES_SUFFIX)\nAPP_GROUP = group.$(NOTES_ID)\n"))
    shared = {"groups": ["$(APP_GROUP)"], "access": ["$(AppIdentifierPrefix)$(NOTES_ID).shared"]}
    entitlements("clean/App/Notes.entitlements", **shared, store="$(TeamIdentifierPrefix)$(CFBundleIdentifier)")
    entitlements("clean/Widget/Widget.entitlements", **shared)
    entitlements("clean/Widget/Widget-mac.entitlements", sandbox=True, **shared)
    entitlements("clean/Watch/Watch.entitlements")
    project = Project({"SDKROOT": "iphoneos", "SUPPORTS_MACCATALYST": "YES"}, "Config/Base.xcconfig")
    project.target("Widget", "app-extension", {
        "CODE_SIGN_ENTITLEMENTS": "Widget/Widget.entitlements",
        "CODE_SIGN_ENTITLEMENTS[sdk=macosx*]": "Widget/Widget-mac.entitlements",
        "PRODUCT_BUNDLE_IDENTIFIER": "$(NOTES_ID).widget"})
    project.target("Watch", "application", {
        "CODE_SIGN_ENTITLEMENTS": "$(SRCROOT)/Watch/Watch.entitlements", "SDKROOT": "watchos",
        "PRODUCT_BUNDLE_IDENTIFIER": "$(NOTES_ID).watch", "SUPPORTS_MACCATALYST": "NO"})
    project.target("Notes", "application", {
        "CODE_SIGN_ENTITLEMENTS": "App/Notes.entitlements", "PRODUCT_BUNDLE_IDENTIFIER": "$(NOTES_ID)",
    }, holds=["Widget", "Watch"])
    project.target("NotesTests", "bundle.unit-test", {})
    project.write("clean/Notes.xcodeproj/project.pbxproj")


def faulty():
    entitlements(
        "faulty/App/Diary.entitlements",
        groups=["group.com.example.diary", "group.com.example.Diary.Shared", "group.com.example.diary"],
        access=["com.example.diary.shared", "$(AppIdentifierPrefix)*"], store="$(TeamIdentifierPrefix)com.example.diary")
    entitlements("faulty/App/Diary-Debug.entitlements", access=["$(AppIdentifierPrefix)com.example.diary"])
    entitlements(
        "faulty/Share/Share.entitlements", groups=["group.com.example.diary.shared", "ZYXWV98765.diary"],
        store="$(TeamIdentifierPrefix)$(CFBundleIdentifier)")
    entitlements("faulty/Keyboard/Keyboard.entitlements", groups=[])
    entitlements("faulty/Today/Today.entitlements", groups=["grup.com.example.diary", "group.$(DIRAY_ID)"])
    entitlements("faulty/Old/Old.entitlements", groups=["group.com.example.diary"])
    entitlements("faulty/Broken/Broken.entitlements", groups="group.com.example.diary")
    project = Project({"SDKROOT": "iphoneos", "DEVELOPMENT_TEAM": "ABCDE12345", "DIARY_ID": "com.example.diary"})
    for name, path in [
        ("Share", "share/Share"), ("Widget", None), ("Keyboard", "Keyboard/Keyboard"), ("Today", "Today/Today"),
        ("Broken", "Broken/Broken"), ("Lost", "Lost/Lost"),
    ]:
        settings = {"PRODUCT_BUNDLE_IDENTIFIER": f"$(DIARY_ID).{name.lower()}"}
        if path:
            settings["CODE_SIGN_ENTITLEMENTS"] = f"{path}.entitlements"
        if name == "Keyboard":
            settings["DEVELOPMENT_TEAM"] = "QWERT67890"
        project.target(name, "app-extension", settings)
    own = {"PRODUCT_BUNDLE_IDENTIFIER": "$(DIARY_ID)"}
    project.target("Diary", "application", {
        "Debug": {**own, "CODE_SIGN_ENTITLEMENTS": "App/Diary-Debug.entitlements"},
        "Release": {**own, "CODE_SIGN_ENTITLEMENTS": "App/Diary.entitlements"},
    }, holds=["Share", "Widget", "Keyboard", "Today", "Broken", "Lost"])
    project.write("faulty/Diary.xcodeproj/project.pbxproj")


clean()
faulty()
