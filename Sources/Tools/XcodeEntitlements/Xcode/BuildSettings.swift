internal import AppGroups

/// The settings of one target in one configuration for one platform.
struct BuildSettings: Sendable {
    /// The placeholder for an unknown team: ten characters, so that identifiers with it have their proper form. No real
    /// team identifier is all zeros.
    static let unknownTeam = "0000000000"

    let configuration: XcodeConfiguration
    /// The platform; `nil` for settings that do not depend on it.
    let platform: BuildPlatform?
    private let definedSettings: Set<String>
    private var variables: EntitlementVariables

    /// - Parameters:
    ///   - definedSettings: The settings that any configuration of the project defines.
    ///   - team: The caller's team, which takes precedence over the project's.
    init(
        _ configuration: XcodeConfiguration, for platform: BuildPlatform?, definedSettings: Set<String> = [],
        team: String? = nil
    ) {
        self.configuration = configuration
        self.platform = platform
        self.definedSettings = definedSettings
        variables = Self.levels(of: configuration, platform?.sdk ?? "")
        let known = team ?? value("DEVELOPMENT_TEAM").flatMap { (try? TeamIdentifier($0))?.identifier }
        self.team = known
        let spelled = known ?? Self.unknownTeam
        variables[EntitlementVariables.developmentTeam] = spelled
        // Accounts from before 2011 may have another prefix, which the project then defines.
        for name in [EntitlementVariables.appIdentifierPrefix, EntitlementVariables.teamIdentifierPrefix] {
            if variables[name] == nil { variables[name] = spelled + "." }
        }
    }

    /// The team, or `nil` if the project does not define it.
    private(set) var team: String?

    /// Returns a setting, fully expanded as in Xcode: a setting without a value becomes empty. Returns `nil` for an
    /// empty result.
    func value(_ name: String) -> String? {
        guard variables[name] != nil else { return nil }
        // Expanded by its name, so that `$(inherited)` in it finds the level below.
        let text = expand("$(\(name))") { _ in true }.text
        return text.isEmpty ? nil : text
    }

    /// Returns whether a setting is `YES`.
    func isOn(_ name: String) -> Bool { value(name) == "YES" }

    /// Expands the text of an identifier. A setting that only other configurations define becomes empty, as in Xcode.
    /// An undefined setting, or one that a missing file may define, remains as written and is listed.
    func expand(_ text: String) -> ExpandedSetting {
        expand(text) { configuration.missingFiles.isEmpty && definedSettings.contains($0) }
    }

    private func expand(_ text: String, emptying isEmptied: (String) -> Bool) -> ExpandedSetting {
        var variables = variables
        var emptied: [String] = []
        // A name may itself contain a setting without a value. Each round resolves at least one.
        for _ in 0..<32 {
            let unknown = variables.expand(text).unresolved.filter { variables[$0] == nil && isEmptied($0) }
            if unknown.isEmpty { break }
            emptied += unknown
            for name in unknown { variables[name] = "" }
        }
        let expanded = variables.expand(text)
        return ExpandedSetting(text: expanded.text, undefined: expanded.unresolved, emptied: emptied)
    }

    /// Returns the settings with one more setting.
    func setting(_ name: String, to value: String) -> BuildSettings {
        var copy = self
        copy.variables[name] = value
        return copy
    }

    /// Returns the levels of the settings: one for each assignment of the same setting, the last one highest.
    private static func levels(of configuration: XcodeConfiguration, _ sdk: String) -> EntitlementVariables {
        var levels: [[String: String]] = [[:]]
        var counts: [String: Int] = [:]
        for assignment in configuration.assignments.reversed() {
            let level = counts[assignment.name, default: 0]
            guard level < mostLevels, assignment.applies(for: sdk, configuration.name) else { continue }
            // Levels below a value without references are never used.
            counts[assignment.name] = assignment.value.utf8.contains(UInt8(ascii: "$")) ? level + 1 : mostLevels
            if level == levels.count { levels.append([:]) }
            levels[level][assignment.name] = assignment.value
        }
        let highest = EntitlementVariables(levels[0])
        return levels.dropFirst().reduce(highest) { $0.over(EntitlementVariables($1)) }
    }

    /// The limit on levels. No expansion goes deeper, so deeper levels are never used.
    private static let mostLevels = 64
}

/// A text with its settings expanded.
struct ExpandedSetting: Sendable {
    let text: String
    /// The settings without a value, which remain in the text as written.
    let undefined: [String]
    /// The settings that were expanded to nothing.
    let emptied: [String]
}

extension XcodeConfiguration {
    /// The platforms that it is built for; empty if no device runs it.
    var platforms: [BuildPlatform] {
        let settings = BuildSettings(self, for: nil)
        let named = settings.value("SUPPORTED_PLATFORMS") ?? settings.value("SDKROOT") ?? ""
        var found: [BuildPlatform] = []
        for word in named.split(separator: " ") {
            guard let platform = BuildPlatform(sdk: word), !found.contains(platform) else { continue }
            found.append(platform)
        }
        if found.contains(.iOS), !found.contains(.macOS), settings.isOn("SUPPORTS_MACCATALYST") {
            found.append(.macCatalyst)
        }
        return found
    }
}

/// A target's platform. Simulators are omitted, because their programs are not signed.
public enum BuildPlatform: String, Sendable, Hashable, CaseIterable {
    case iOS
    /// An iOS app on a Mac, built with the macOS SDK.
    case macCatalyst = "Mac Catalyst"
    case macOS
    case watchOS
    case tvOS
    case visionOS

    /// The SDK to match conditions such as `[sdk=iphoneos*]`.
    var sdk: String {
        switch self {
        case .iOS: "iphoneos"
        case .macCatalyst, .macOS: "macosx"
        case .watchOS: "watchos"
        case .tvOS: "appletvos"
        case .visionOS: "xros"
        }
    }

    /// Creates a platform, or `nil` for simulators and unknown SDKs.
    init?(sdk: some StringProtocol) {
        let name = sdk.lowercased()
        guard !name.contains("simulator"), let platform = Self.bySDK.first(where: { name.hasPrefix($0.sdk) }) else {
            return nil
        }
        self = platform
    }

    private static let bySDK: [BuildPlatform] = [.iOS, .macOS, .watchOS, .tvOS, .visionOS]

    /// True if group containers and signing follow the rules of macOS.
    var isMac: Bool { self == .macOS || self == .macCatalyst }
}
