/// The values of build settings in entitlements: `$(AppIdentifierPrefix)`, `$(CFBundleIdentifier)`, …
///
/// Xcode expands them when it signs; a file from a project still contains them. Names are case-sensitive, and values
/// may refer to other settings.
public struct EntitlementVariables: Sendable, Hashable {
    /// The settings of each level, the highest first: a target's before those of its project.
    private var levels: [[String: String]]

    /// Creates variables without any setting.
    public init() { levels = [[:]] }

    /// Creates variables with these settings.
    public init(_ values: [String: String]) { levels = [values] }

    /// Creates the settings that follow from a program's team and bundle.
    ///
    /// - Parameters:
    ///   - teamIdentifier: Sets `AppIdentifierPrefix` and `TeamIdentifierPrefix`, both with their dot at the end, and
    ///     `DEVELOPMENT_TEAM`. Some old accounts have application identifiers with another prefix than the team's: set
    ///     `AppIdentifierPrefix` in `values` for these.
    ///   - bundleIdentifier: Sets `CFBundleIdentifier` and `PRODUCT_BUNDLE_IDENTIFIER`.
    ///   - values: More settings, which take precedence.
    public init(
        teamIdentifier: TeamIdentifier?, bundleIdentifier: String?, _ values: [String: String] = [:]
    ) {
        var all = values
        func give(_ name: String, _ value: String) { if all[name] == nil { all[name] = value } }
        if let teamIdentifier {
            give(Self.appIdentifierPrefix, "\(teamIdentifier).")
            give(Self.teamIdentifierPrefix, "\(teamIdentifier).")
            give(Self.developmentTeam, teamIdentifier.identifier)
        }
        if let bundleIdentifier {
            give(Self.bundleIdentifier, bundleIdentifier)
            give(Self.productBundleIdentifier, bundleIdentifier)
        }
        levels = [all]
    }

    package static let appIdentifierPrefix = "AppIdentifierPrefix"
    package static let teamIdentifierPrefix = "TeamIdentifierPrefix"
    package static let developmentTeam = "DEVELOPMENT_TEAM"
    package static let bundleIdentifier = "CFBundleIdentifier"
    package static let productBundleIdentifier = "PRODUCT_BUNDLE_IDENTIFIER"

    /// Returns these settings over those of a lower level, which apply to `$(inherited)` and missing settings: a
    /// target's over its project's.
    public func over(_ lower: EntitlementVariables) -> EntitlementVariables {
        var both = self
        both.levels += lower.levels
        return both
    }

    /// The unexpanded value of a setting at its highest level; nil if no level has it.
    ///
    /// Assigning changes the highest level; nil removes the setting there.
    public subscript(name: String) -> String? {
        get { definition(of: name)?.value }
        set { levels[0][name] = newValue }
    }

    /// Expands references: `$(NAME)`, `${NAME}`, `$[NAME]` and `$NAME`, nested ones such as `$(A_$(B))` from the
    /// inside, `$$` as a dollar sign.
    ///
    /// Operators work as in Xcode, one after the other: `:rfc1034identifier`, `:identifier`, `:c99extidentifier`,
    /// `:lower`, `:upper` and `:default=…` for a missing or empty setting. `$(inherited)` in a setting is the same
    /// setting of the next lower level, or empty.
    ///
    /// A reference that cannot be expanded stays unchanged in the text, and its name is listed: Xcode would replace it
    /// by nothing, and the mistake would appear much later. This includes settings that refer to each other in a
    /// circle, or that grow beyond 1 MiB or 10,000 references, and references with more than 32 operators.
    public func expand(_ text: String) -> ExpandedText {
        var budget = ExpansionBudget()
        return expand(text, within: &budget)
    }

    /// Does the same for one of several texts that share a budget.
    func expand(_ text: String, within budget: inout ExpansionBudget) -> ExpandedText {
        var expansion = VariableExpansion(variables: self, budget: budget)
        let expanded = expansion.expand(text[...])
        budget = expansion.budget
        return ExpandedText(text: expanded, unresolved: expansion.unresolved)
    }

    /// Returns a setting and its level, searched from a level on.
    func definition(of name: String, from level: Int = 0) -> (value: String, level: Int)? {
        for position in levels.indices.dropFirst(level) {
            if let value = levels[position][name] { return (value, position) }
        }
        return nil
    }
}

/// A text whose references to build settings were expanded.
public struct ExpandedText: Sendable, Hashable {
    /// The text; references that could not be expanded are unchanged.
    public let text: String
    /// The names of the settings without a value, each once, in the order of the text: `AppIdentifierPrefix`. With an
    /// unknown operator, `NAME:operator`; for an unterminated reference, its text.
    public let unresolved: [String]

    package init(text: String, unresolved: [String]) {
        self.text = text
        self.unresolved = unresolved
    }

    /// `true` if every reference was expanded.
    public var isResolved: Bool { unresolved.isEmpty }
}
