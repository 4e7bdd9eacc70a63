internal import AppGroups

/// The settings of one target in one configuration for one platform.
struct BuildSettings: Sendable {
    /// Stands for a team that is not known: ten characters, so that identifiers with it have their proper form. No real team
    /// identifier is all zeros.
    static let unknownTeam = "0000000000"

    let configuration: XcodeConfiguration
    /// Nil asks what does not depend on it.
    let platform: BuildPlatform?
    private let definedSettings: Set<String>
    private var variables: EntitlementVariables

    /// - Parameters:
    ///   - definedSettings: What any configuration of the project defines.
    ///   - team: Given by whoever asks; it wins over the project's.
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
        // An account of before 2011 may have another prefix; a project that knows says so.
        for name in [EntitlementVariables.appIdentifierPrefix, EntitlementVariables.teamIdentifierPrefix] {
            if variables[name] == nil { variables[name] = spelled + "." }
        }
    }

    /// The team; nil where the project leaves it to whoever builds it.
    private(set) var team: String?

    /// A setting with everything in it expanded, as Xcode does: a setting without a value becomes nothing. Nil where nothing
    /// is left.
    func value(_ name: String) -> String? {
        guard variables[name] != nil else { return nil }
        // By its name, so that `$(inherited)` in it finds the level below.
        let text = expand("$(\(name))") { _ in true }.text
        return text.isEmpty ? nil : text
    }

    /// Whether a setting says `YES`.
    func isOn(_ name: String) -> Bool { value(name) == "YES" }

    /// Expands the text of an identifier. A setting that only other configurations define becomes nothing, as it is meant;
    /// one that none defines, or that a file which is not there may define, stays as it is written, and is listed.
    func expand(_ text: String) -> ExpandedSetting {
        expand(text) { configuration.missingFiles.isEmpty && definedSettings.contains($0) }
    }

    private func expand(_ text: String, emptying isEmptied: (String) -> Bool) -> ExpandedSetting {
        var variables = variables
        var emptied: [String] = []
        // A name may itself be made of a setting without a value: each round makes at least one known.
        for _ in 0..<32 {
            let unknown = variables.expand(text).unresolved.filter { variables[$0] == nil && isEmptied($0) }
            if unknown.isEmpty { break }
            emptied += unknown
            for name in unknown { variables[name] = "" }
        }
        let expanded = variables.expand(text)
        return ExpandedSetting(text: expanded.text, undefined: expanded.unresolved, emptied: emptied)
    }

    /// With one more setting.
    func setting(_ name: String, to value: String) -> BuildSettings {
        var copy = self
        copy.variables[name] = value
        return copy
    }

    /// One level for each time that a setting is given a value, the last one highest.
    private static func levels(of configuration: XcodeConfiguration, _ sdk: String) -> EntitlementVariables {
        var levels: [[String: String]] = [[:]]
        var counts: [String: Int] = [:]
        for assignment in configuration.assignments.reversed() {
            let level = counts[assignment.name, default: 0]
            guard level < mostLevels, assignment.applies(for: sdk, configuration.name) else { continue }
            // What is below a value without references is never asked for.
            counts[assignment.name] = assignment.value.utf8.contains(UInt8(ascii: "$")) ? level + 1 : mostLevels
            if level == levels.count { levels.append([:]) }
            levels[level][assignment.name] = assignment.value
        }
        let highest = EntitlementVariables(levels[0])
        return levels.dropFirst().reduce(highest) { $0.over(EntitlementVariables($1)) }
    }

    /// No expansion goes deeper, so that what is below is never asked for either.
    private static let mostLevels = 64
}

/// A text with its settings expanded.
struct ExpandedSetting: Sendable {
    let text: String
    /// The settings that have no value; they stand in the text as they were written.
    let undefined: [String]
    /// Those that nothing stands in the place of.
    let emptied: [String]
}

extension XcodeConfiguration {
    /// What it is built for; empty for something that no device runs.
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

/// What a target is built for; simulators are not signed, so they are left out.
public enum BuildPlatform: String, Sendable, Hashable, CaseIterable {
    case iOS
    /// An iOS app on a Mac, built with the macOS SDK.
    case macCatalyst = "Mac Catalyst"
    case macOS
    case watchOS
    case tvOS
    case visionOS

    /// The SDK that conditions such as `[sdk=iphoneos*]` are compared with.
    var sdk: String {
        switch self {
        case .iOS: "iphoneos"
        case .macCatalyst, .macOS: "macosx"
        case .watchOS: "watchos"
        case .tvOS: "appletvos"
        case .visionOS: "xros"
        }
    }

    /// Nil for simulators and what nobody knows.
    init?(sdk: some StringProtocol) {
        let name = sdk.lowercased()
        guard !name.contains("simulator"), let platform = Self.bySDK.first(where: { name.hasPrefix($0.sdk) }) else {
            return nil
        }
        self = platform
    }

    private static let bySDK: [BuildPlatform] = [.iOS, .macOS, .watchOS, .tvOS, .visionOS]

    /// Whether group containers and signing follow the rules of macOS.
    var isMac: Bool { self == .macOS || self == .macCatalyst }
}
