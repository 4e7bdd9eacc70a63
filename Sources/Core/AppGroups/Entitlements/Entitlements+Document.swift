internal import SharedFiles

extension Entitlements {
    /// Creates entitlements from a file's: expands build settings and checks every identifier.
    ///
    /// Duplicates are dropped, and so is `com.apple.token` in the keychain's groups. The file's own application
    /// identifier and team are the values of `AppIdentifierPrefix`, `TeamIdentifierPrefix` and `CFBundleIdentifier`
    /// that `variables` lacks.
    /// - Throws: ``AppGroupError`` `malformedEntitlements` if an identifier is invalid; `unresolvedVariable` if the
    ///   only faults are settings without a value, or settings that together grow beyond 1 MiB or 10,000 references. An
    ///   error lists all invalid identifiers, up to twenty; further ones are not checked.
    public init(
        _ document: EntitlementsDocument, variables: EntitlementVariables = EntitlementVariables()
    ) throws(AppGroupError) {
        var reading = EntitlementReading(document, variables)
        // First, since their faults leave settings without values.
        let own = reading.identifiers(
            document.applicationIdentifier.map { [$0] } ?? [], in: EntitlementKey.applicationIdentifier,
            AccessGroupPattern.init(entitled:))
        _ = reading.identifiers(
            document.teamIdentifier.map { [$0] } ?? [], in: EntitlementKey.teamIdentifier, TeamIdentifier.init)
        let groups = reading.identifiers(document.applicationGroups ?? [], in: EntitlementKey.applicationGroups) {
            (text) throws(AppGroupError) in try AppGroup(text)
        }
        let patterns = reading.identifiers(
            (document.keychainAccessGroups ?? []).filter { $0 != Self.smartCards },
            in: EntitlementKey.keychainAccessGroups, AccessGroupPattern.init(entitled:))
        try reading.requireNoFault()
        self.init(
            applicationGroups: groups,
            accessGroups: patterns.filter { !$0.isWildcard }.map { AccessGroup(wellFormed: $0.pattern) },
            accessGroupPatterns: patterns.filter(\.isWildcard), applicationIdentifier: own.first?.pattern)
    }

    /// The system's own group for keys on smart cards. Profiles grant it; it has no team, and no vault has its name.
    private static let smartCards = "com.apple.token"

    /// Reads the entitlements of a file, as `EntitlementsDocument.read(path:)` and ``init(_:variables:)`` do.
    public static func read(
        path: String, variables: EntitlementVariables = EntitlementVariables()
    ) throws(AppGroupError) -> Entitlements {
        let document = try EntitlementsDocument.read(path: path)
        do throws(AppGroupError) { return try Entitlements(document, variables: variables) } catch {
            throw error.inFile(path)
        }
    }
}

extension AccessGroupPattern {
    /// Creates the pattern of an entry of `keychain-access-groups` or of the application identifier.
    ///
    /// An app group there would be held without being in the list of app groups, which Apple's systems do not grant.
    fileprivate init(entitled text: String) throws(AppGroupError) {
        try self.init(text)
        guard TeamIdentifier.isWellFormed(text.prefix(TeamIdentifier.length)) else {
            throw AppGroupError(
                .missingPrefix, text, in: .accessGroup,
                because:
                    "it is an app group; list it in \(EntitlementKey.applicationGroups) only, which covers both"
            )
        }
    }
}

/// Expands and checks identifiers, and collects their faults.
private struct EntitlementReading {
    private static let mostFaults = 20
    private static let mostNames = 5

    private let variables: EntitlementVariables
    /// The budget of all texts together: many short ones may refer to a long value.
    private var budget = ExpansionBudget()
    private var faults: [String] = []
    private var passedOver = 0
    private var isMalformed = false

    init(_ document: EntitlementsDocument, _ variables: EntitlementVariables) {
        self.variables = variables.over(EntitlementVariables(whatIsSaidIn: document, variables))
    }

    mutating func identifiers<Identifier: Hashable>(
        _ texts: [String], in key: String, _ check: (String) throws(AppGroupError) -> Identifier
    ) -> [Identifier] {
        var seen: Set<Identifier> = []
        var found: [Identifier] = []
        for text in texts {
            guard faults.count < Self.mostFaults, !budget.isExceeded else {
                passedOver += 1
                continue
            }
            guard let expanded = expand(text, in: key) else { continue }
            do throws(AppGroupError) {
                let identifier = try check(expanded)
                if seen.insert(identifier).inserted { found.append(identifier) }
            } catch {
                isMalformed = true
                note(text, in: key, error.reason.clause)
            }
        }
        return found
    }

    private mutating func expand(_ text: String, in key: String) -> String? {
        let expanded = variables.expand(text, within: &budget)
        if budget.isExceeded {
            note(text, in: key, "it makes the build settings of the file too large")
        } else if !expanded.isResolved {
            let names = expanded.unresolved.prefix(Self.mostNames).map(DisplayText.identifier).joined(separator: ", ")
            note(text, in: key, "\(names) has no value")
        } else {
            return expanded.text
        }
        return nil
    }

    private mutating func note(_ text: String, in key: String, _ reason: String) {
        faults.append("\(key): \"\(DisplayText.identifier(text))\": \(reason)")
    }

    func requireNoFault() throws(AppGroupError) {
        guard !faults.isEmpty else { return }
        let more = passedOver > 0 ? "; and \(passedOver) more that were not examined" : ""
        let reason = faults.joined(separator: "; ") + more
        guard isMalformed else { throw .unresolvedVariables(AppGroupError.wholeFile, reason) }
        throw .malformedEntitlements(AppGroupError.wholeFile, reason)
    }
}

extension EntitlementVariables {
    /// Creates the settings that follow from a file's own application identifier and team, as far as those can be
    /// expanded.
    fileprivate init(whatIsSaidIn document: EntitlementsDocument, _ variables: EntitlementVariables) {
        // A longer text is not an identifier, and would be repeated for every use of a setting.
        func known(_ text: String?) -> String? {
            guard let expanded = text.map(variables.expand), expanded.isResolved,
                expanded.text.utf8.count <= AppGroup.maximumLength
            else { return nil }
            return expanded.text
        }
        let team = known(document.teamIdentifier).flatMap { try? TeamIdentifier($0) }
        guard let own = known(document.applicationIdentifier), let dot = own.firstIndex(of: ".") else {
            self.init(teamIdentifier: team, bundleIdentifier: nil)
            return
        }
        let bundle = String(own[own.index(after: dot)...])
        // An old account's prefix differs from its team.
        let prefix = TeamIdentifier.isWellFormed(own[..<dot]) ? [Self.appIdentifierPrefix: "\(own[..<dot])."] : [:]
        // A profile's pattern is not a bundle identifier.
        self.init(teamIdentifier: team, bundleIdentifier: bundle.contains("*") ? nil : bundle, prefix)
    }
}
