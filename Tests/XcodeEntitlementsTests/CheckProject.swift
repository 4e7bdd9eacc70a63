import TestSupport
import Testing

@testable import XcodeEntitlements

/// An Xcode project in a directory of its own, composed by a test.
final class CheckProject {
    struct Target {
        var type = "app-extension"
        /// The settings by configuration; settings under `*` apply to every one.
        var settings: [String: [String: String]] = [:]
        var holds: [String] = []
    }

    let directory: TemporaryDirectory
    private var objects: [String] = []
    private var targets: [(name: String, target: Target)] = []
    var configurations = ["Debug", "Release"]
    /// The settings of the project.
    var settings = ["SDKROOT": "iphoneos", "DEVELOPMENT_TEAM": "ABCDE12345", "PRODUCT_NAME": "$(TARGET_NAME)"]
    var settingsFile: String?

    init() throws { directory = try TemporaryDirectory() }

    /// Adds a target that is signed with groups, the same in every configuration.
    func add(
        _ name: String, _ type: String = "app-extension", groups: [String]? = nil, access: [String]? = nil,
        store: String? = nil, sandbox: Bool? = nil, _ settings: [String: String] = [:], holds: [String] = []
    ) throws {
        var all = [
            "PRODUCT_BUNDLE_IDENTIFIER": "com.example.app" + (type == "application" ? "" : ".\(name.lowercased())")
        ]
        if groups != nil || access != nil || store != nil || sandbox != nil {
            try entitlements(name, groups: groups, access: access, store: store, sandbox: sandbox)
            all["CODE_SIGN_ENTITLEMENTS"] = "\(name).entitlements"
        }
        all.merge(settings) { $1 }
        targets.append((name, Target(type: type, settings: ["*": all], holds: holds)))
    }

    func add(_ name: String, _ target: Target) { targets.append((name, target)) }

    func entitlements(
        _ name: String, groups: [String]? = nil, access: [String]? = nil, store: String? = nil, sandbox: Bool? = nil
    ) throws {
        var text = ""
        func list(_ key: String, _ values: [String]?) {
            guard let values else { return }
            text += "<key>\(key)</key>\n<array>\n" + values.map { "<string>\($0)</string>\n" }.joined() + "</array>\n"
        }
        list("com.apple.security.application-groups", groups)
        list("keychain-access-groups", access)
        if let store {
            text += "<key>com.apple.developer.ubiquity-kvstore-identifier</key>\n<string>\(store)</string>\n"
        }
        if let sandbox { text += "<key>com.apple.security.app-sandbox</key>\n<\(sandbox)/>\n" }
        try directory.file("\(name).entitlements", "<plist version=\"1.0\">\n<dict>\n\(text)</dict>\n</plist>\n")
    }

    /// Writes the project, and returns the report for its directory.
    func report(team: String? = nil, profiles: [String] = []) throws -> ProjectReport {
        try write()
        var check = ProjectCheck()
        check.team = team
        check.profiles = profiles
        return try check.run([directory.path], at: try ProfileFixture.date())
    }

    /// Writes the project, and reads it.
    func read() throws -> XcodeProject {
        try write()
        return try XcodeProject.read(directory.path("App.xcodeproj/project.pbxproj"))
    }

    func write() throws {
        objects = []
        if !SystemFile.exists(directory.path("App.xcodeproj")) { try directory.directory("App.xcodeproj") }
        if let settingsFile {
            object("F1", "isa = PBXFileReference; path = \(settingsFile); sourceTree = \"<group>\";")
        }
        let base = settingsFile == nil ? "" : "baseConfigurationReference = F1;"
        configurationList("LP", base) { _ in settings }
        for (name, target) in targets { write(name, target) }
        object("G1", "isa = PBXGroup; children = (F1,); sourceTree = \"<group>\";")
        let ids = targets.map { "T\($0.name)," }.joined()
        object("P1", "isa = PBXProject; buildConfigurationList = LP; mainGroup = G1; targets = (\(ids));")
        try directory.file(
            "App.xcodeproj/project.pbxproj",
            "// !$*UTF8*$!\n{ objects = {\n\(objects.joined(separator: "\n"))\n}; rootObject = P1; }\n")
    }

    private func write(_ name: String, _ target: Target) {
        for part in target.holds {
            object("B\(name)\(part)", "isa = PBXBuildFile; fileRef = R\(part);")
        }
        let files = target.holds.map { "B\(name)\($0)," }.joined()
        object("C\(name)", "isa = PBXCopyFilesBuildPhase; files = (\(files));")
        object("R\(name)", "isa = PBXFileReference; path = x; sourceTree = BUILT_PRODUCTS_DIR;")
        configurationList("L\(name)", "") { configuration in
            (target.settings["*"] ?? [:]).merging(target.settings[configuration] ?? [:]) { $1 }
        }
        object(
            "T\(name)",
            """
            isa = PBXNativeTarget; name = "\(name)"; buildConfigurationList = L\(name); buildPhases = (C\(name)); \
            productReference = R\(name); productType = "com.apple.product-type.\(target.type)";
            """)
    }

    private func configurationList(_ id: String, _ extra: String, _ settings: (String) -> [String: String]) {
        for name in configurations {
            let lines = settings(name).map { "\"\($0.key)\" = \"\($0.value)\";" }.joined(separator: " ")
            object("\(id)\(name)", "isa = XCBuildConfiguration; \(extra) name = \(name); buildSettings = { \(lines) };")
        }
        let ids = configurations.map { "\(id)\($0)," }.joined()
        object(id, "isa = XCConfigurationList; buildConfigurations = (\(ids));")
    }

    private func object(_ id: String, _ fields: String) { objects.append("\(id) = { \(fields) };") }
}

extension ProjectReport {
    /// The ids of its findings, each with its target: `ENT001 Widget`.
    var places: [String] { findings.map { "\($0.rule.id) \($0.target ?? "-")" } }

    func findings(_ id: String) -> [ProjectFinding] { findings.filter { $0.rule.id == id } }
}
