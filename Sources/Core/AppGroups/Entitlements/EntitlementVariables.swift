/// The values of build settings that stand in entitlements: `$(AppIdentifierPrefix)`, `$(CFBundleIdentifier)`, …
///
/// Xcode expands them when it signs; a file that comes from a project still holds them. Names are case-sensitive, and values
/// may hold references to other settings.
public struct EntitlementVariables: Sendable, Hashable {
    /// The settings of each level, the highest first: of a target before those of its project.
    private var levels: [[String: String]]

    /// No setting has a value.
    public init() { levels = [[:]] }

    /// These settings.
    public init(_ values: [String: String]) { levels = [values] }

    /// The settings that follow from whose program it is.
    ///
    /// - Parameters:
    ///   - teamIdentifier: Gives `AppIdentifierPrefix` and `TeamIdentifierPrefix`, both with their dot at the end, and
    ///     `DEVELOPMENT_TEAM`. Some old accounts have application identifiers with another prefix than the team's: give
    ///     `AppIdentifierPrefix` in `values` there.
    ///   - bundleIdentifier: Gives `CFBundleIdentifier` and `PRODUCT_BUNDLE_IDENTIFIER`.
    ///   - values: More settings; they win over those above.
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

    /// These settings, and where they say `$(inherited)` or lack one, those of a lower level: a target's over its project's.
    public func over(_ lower: EntitlementVariables) -> EntitlementVariables {
        var both = self
        both.levels += lower.levels
        return both
    }

    /// A setting as it is written at its highest level, references in it not expanded; nil where no level has it.
    ///
    /// Setting it sets it at the highest level; nil takes it away there.
    public subscript(name: String) -> String? {
        get { definition(of: name)?.value }
        set { levels[0][name] = newValue }
    }

    /// Puts values in the place of references: `$(NAME)`, `${NAME}`, `$[NAME]` and `$NAME`, nested ones such as
    /// `$(A_$(B))` from the inside, `$$` as a dollar sign.
    ///
    /// Operators work as in Xcode, one after the other: `:rfc1034identifier`, `:identifier`, `:c99extidentifier`, `:lower`,
    /// `:upper` and `:default=…` for a setting without a value or an empty one. `$(inherited)` in a setting is the same
    /// setting of the next lower level, and nothing where there is none.
    ///
    /// A reference that cannot be expanded stays in the text as it was written, and its name is listed: Xcode would put
    /// nothing in its place, and the mistake would show much later. Settings that refer to each other in a circle, or that
    /// grow beyond 1 MiB or 10,000 references, count as such, and so does a reference with more than 32 operators.
    public func expand(_ text: String) -> ExpandedText {
        var budget = ExpansionBudget()
        return expand(text, within: &budget)
    }

    /// The same for one of several texts that share a budget.
    func expand(_ text: String, within budget: inout ExpansionBudget) -> ExpandedText {
        var expansion = VariableExpansion(variables: self, budget: budget)
        let expanded = expansion.expand(text[...])
        budget = expansion.budget
        return ExpandedText(text: expanded, unresolved: expansion.unresolved)
    }

    /// A setting and the level that it comes from, looked for from a level on.
    func definition(of name: String, from level: Int = 0) -> (value: String, level: Int)? {
        for position in levels.indices.dropFirst(level) {
            if let value = levels[position][name] { return (value, position) }
        }
        return nil
    }
}

/// A text whose references to build settings were expanded.
public struct ExpandedText: Sendable, Hashable {
    /// The text; what could not be expanded stands in it as it was written.
    public let text: String
    /// The names of the settings that have no value, each once, in the order of the text: `AppIdentifierPrefix`. With an
    /// unknown operator, `NAME:operator`; a reference that does not end, as it stands.
    public let unresolved: [String]

    package init(text: String, unresolved: [String]) {
        self.text = text
        self.unresolved = unresolved
    }

    /// Whether every reference was expanded.
    public var isResolved: Bool { unresolved.isEmpty }
}
