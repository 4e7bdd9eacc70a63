extension Entitlements {
    /// Takes the entitlements of a file: expands build settings and checks every identifier.
    ///
    /// Duplicates are dropped. What the file says of its own team and application identifier gives the values of
    /// `AppIdentifierPrefix`, `TeamIdentifierPrefix` and `CFBundleIdentifier` where `variables` has none.
    /// - Throws: ``AppGroupError`` `malformedEntitlements` where an identifier breaks the rules, `unresolvedVariable` where
    ///   nothing is wrong but settings without a value. One error lists every identifier at fault.
    public init(
        _ document: EntitlementsDocument, variables: EntitlementVariables = EntitlementVariables()
    ) throws(AppGroupError) {
        var reading = EntitlementReading(document, variables)
        let groups = reading.identifiers(document.applicationGroups ?? [], in: EntitlementKey.applicationGroups) {
            (text) throws(AppGroupError) in try AppGroup(text)
        }
        let patterns = reading.identifiers(
            document.keychainAccessGroups ?? [], in: EntitlementKey.keychainAccessGroups
        ) { (text) throws(AppGroupError) in try AccessGroupPattern(text) }
        let own = reading.identifiers(
            document.applicationIdentifier.map { [$0] } ?? [], in: EntitlementKey.applicationIdentifier
        ) { (text) throws(AppGroupError) in try AccessGroupPattern(text) }
        _ = reading.identifiers(document.teamIdentifier.map { [$0] } ?? [], in: EntitlementKey.teamIdentifier) {
            (text) throws(AppGroupError) in try TeamIdentifier(text)
        }
        try reading.requireNoFault()
        self.init(
            applicationGroups: groups,
            accessGroups: patterns.filter { !$0.isWildcard }.map { AccessGroup(wellFormed: $0.pattern) },
            accessGroupPatterns: patterns.filter(\.isWildcard), applicationIdentifier: own.first?.pattern)
    }

    /// Reads the entitlements of a file, as ``EntitlementsDocument/read(path:)`` and ``init(_:variables:)`` do.
    public static func read(
        path: String, variables: EntitlementVariables = EntitlementVariables()
    ) throws(AppGroupError) -> Entitlements {
        let document = try EntitlementsDocument.read(path: path)
        do throws(AppGroupError) { return try Entitlements(document, variables: variables) } catch {
            throw error.inFile(path)
        }
    }
}

/// Expands and checks identifiers, and collects what is wrong with them.
private struct EntitlementReading {
    private static let mostListed = 20

    private let variables: EntitlementVariables
    private var faults: [String] = []
    private var count = 0
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
            let expanded = variables.expand(text)
            guard expanded.isResolved else {
                let names = expanded.unresolved.map(DisplayText.identifier).joined(separator: ", ")
                note(text, in: key, "\(names) has no value")
                continue
            }
            do throws(AppGroupError) {
                let identifier = try check(expanded.text)
                if seen.insert(identifier).inserted { found.append(identifier) }
            } catch {
                isMalformed = true
                note(text, in: key, error.reason)
            }
        }
        return found
    }

    private mutating func note(_ text: String, in key: String, _ reason: String) {
        count += 1
        if count <= Self.mostListed { faults.append("\(key): \"\(DisplayText.identifier(text))\": \(reason)") }
    }

    func requireNoFault() throws(AppGroupError) {
        guard count > 0 else { return }
        let more = count > Self.mostListed ? "; and \(count - Self.mostListed) more" : ""
        let reason = faults.joined(separator: "; ") + more
        guard isMalformed else { throw .unresolvedVariables(AppGroupError.wholeFile, reason) }
        throw .malformedEntitlements(AppGroupError.wholeFile, reason)
    }
}

extension EntitlementVariables {
    /// The settings that follow from a file's own team and application identifier, as far as those can be expanded.
    fileprivate init(whatIsSaidIn document: EntitlementsDocument, _ variables: EntitlementVariables) {
        func known(_ text: String?) -> String? {
            guard let expanded = text.map(variables.expand), expanded.isResolved else { return nil }
            return expanded.text
        }
        let team = known(document.teamIdentifier).flatMap { try? TeamIdentifier($0) }
        // The prefix is up to the first dot: a team's identifier, or what an old account has in its place.
        let own = known(document.applicationIdentifier)
        let bundle = own.flatMap { text in text.firstIndex(of: ".").map { String(text[text.index(after: $0)...]) } }
        // A profile's pattern is no bundle identifier.
        self.init(teamIdentifier: team, bundleIdentifier: bundle.flatMap { $0.contains("*") ? nil : $0 })
    }
}
