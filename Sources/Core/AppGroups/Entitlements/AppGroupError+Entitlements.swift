internal import SharedFiles

extension AppGroupError.Code {
    /// The program's entitlements do not contain the group.
    public static let notEntitled = Self(rawValue: "notEntitled")

    /// A file, or a part of one, is not valid entitlements: not a property list, or a value of another type or form.
    public static let malformedEntitlements = Self(rawValue: "malformedEntitlements")

    /// An entitlement contains a build setting, such as `$(AppIdentifierPrefix)`, whose value is not known.
    public static let unresolvedVariable = Self(rawValue: "unresolvedVariable")

    /// The program's entitlements cannot be read, or another user may change them.
    public static let unusableEntitlements = Self(rawValue: "unusableEntitlements")
}

// The content of an entitlements file.
extension AppGroupError {
    private static let readEntitlements = "read the entitlements"

    /// Creates an error for invalid entitlements; the reason is the rest of a sentence about the subject.
    static func malformedEntitlements(_ subject: String, _ reason: String) -> Self {
        Self(
            code: .malformedEntitlements, operation: readEntitlements, subject: DisplayText.identifier(subject),
            reason: reason,
            advice: "Correct it; docs/app-groups.md describes the keys and their types and has an example.")
    }

    static func unresolvedVariables(_ subject: String, _ reason: String) -> Self {
        Self(
            code: .unresolvedVariable, operation: readEntitlements, subject: subject, reason: reason,
            advice:
                "State their values (\(EntitlementEnvironment.team) and \(EntitlementEnvironment.bundle) for the usual "
                + "ones), or write the identifiers in full.")
    }

    /// Creates an error for a file that is missing, not regular, too large or unreadable.
    static func unreadableEntitlements(_ error: FileError) -> Self {
        Self(
            code: .file, operation: readEntitlements, subject: error.path, reason: "cannot \(error.operation) it",
            advice: error.advice, underlying: error)
    }

    /// Returns the same error with a file as its subject; the reason names the former subject.
    func inFile(_ path: String) -> Self {
        guard code != .file else { return self }
        let isWhole = subject == Self.wholeFile
        return Self(
            code: code, operation: operation, subject: path,
            reason: isWhole ? reason.clause : "\(subject): \(reason.clause)",
            advice: advice, underlying: underlying)
    }

    /// The subject of an error without a known file.
    static let wholeFile = "entitlements"
}

// The selection of this program's entitlements file.
extension AppGroupError {
    private static let findEntitlements = "find this program's entitlements"

    static func relativeEntitlements(_ value: String) -> Self {
        Self(
            code: .unusableEntitlements, operation: findEntitlements, subject: EntitlementEnvironment.file,
            reason: "its value \"\(DisplayText.identifier(value))\" is not an absolute path",
            advice: "Set it to an absolute path, or unset it.")
    }

    static func noTeamIdentifier(_ value: String) -> Self {
        Self(
            code: .unusableEntitlements, operation: findEntitlements, subject: EntitlementEnvironment.team,
            reason: "its value \"\(DisplayText.identifier(value))\" is not a team identifier",
            advice: "Set it to ten characters of A-Z and 0-9, or unset it.")
    }

    static func unreadableVariable(_ variable: String) -> Self {
        Self(
            code: .unusableEntitlements, operation: findEntitlements, subject: variable,
            reason: "its value is not UTF-8",
            advice: "Set it to a value in UTF-8, or unset it.")
    }

    static func unclearRequirement(_ value: String) -> Self {
        Self(
            code: .unusableEntitlements, operation: findEntitlements, subject: EntitlementEnvironment.required,
            reason: "its value \"\(DisplayText.identifier(value))\" is neither yes nor no",
            advice: "Set it to 1 or 0, or unset it.")
    }

    static func unreadableExecutablePath() -> Self {
        Self(
            code: .unusableEntitlements, operation: findEntitlements, subject: "the program's path",
            reason: "it is not UTF-8", advice: "Move the program, or set \(EntitlementEnvironment.file).")
    }

    /// Creates an error for an unusable file that exists or was named. Continuing without it would open every group.
    static func unusableEntitlements(_ error: FileError) -> Self {
        let reason =
            switch error.code {
            case .unsafeMode: "other users can write to it"
            case .wrongOwner: "it belongs to another user"
            case .notRegularFile: "it is not a regular file"
            case .unsafePath: "it is a link"
            case .notFound: "it does not exist"
            case .tooLarge: "it is larger than \(EntitlementsFile.largest) bytes"
            default: "cannot \(error.operation) it"
            }
        return Self(
            code: .unusableEntitlements, operation: findEntitlements, subject: error.path, reason: reason,
            advice: error.advice, underlying: error)
    }
}

// Membership in groups.
extension AppGroupError {
    private static let listed = 10

    /// Creates an error for an app group that the entitlements do not contain.
    static func notEntitled(_ group: AppGroup, _ entitlements: Entitlements) -> Self {
        notEntitled(
            group.identifier, operation: "open the app group", held: entitlements.applicationGroups.map(\.identifier),
            kind: "app group", advice: "Add it to \(EntitlementKey.applicationGroups) of every program that shares it.")
    }

    /// Creates an error for an access group that the entitlements do not contain.
    static func notEntitled(_ group: AccessGroup, _ entitlements: Entitlements) -> Self {
        var advice = "Add it to \(EntitlementKey.keychainAccessGroups)."
        if let meant = group.appGroupWithTeamPrefix, entitlements.holds(meant) {
            advice = "Write \(meant): an app group is an access group under its own name, without a team before it."
        }
        let held = entitlements.allAccessGroups.map(\.identifier) + entitlements.accessGroupPatterns.map(\.pattern)
        return notEntitled(
            group.identifier, operation: "use the access group", held: held, kind: "access group", advice: advice)
    }

    /// Creates an error for a program without entitlements where they are required.
    ///
    /// - Parameter place: The file that was looked for.
    static func noEntitlements(
        _ identifier: String, _ requirement: EntitlementRequirement, lookedAt place: String
    ) -> Self {
        Self(
            code: .notEntitled, operation: "use the group", subject: identifier,
            reason: "the policy requires entitlements (\(requirement.source)), and the program has none: "
                + "looked for \(place.printable)",
            advice: "Install the program's entitlements there, with \(identifier) in them.")
    }

    private static func notEntitled(
        _ identifier: String, operation: String, held: [String], kind: String, advice: String
    ) -> Self {
        let nearest = NearestName.nearest(to: identifier, among: held)
        return Self(
            code: .notEntitled, operation: operation, subject: identifier,
            reason: "it is not in the program's entitlements; \(sentence(on: held, kind))",
            advice: nearest.map { "Did you mean \($0)? If not: \(advice)" } ?? advice, heldGroups: held,
            nearestGroup: nearest)
    }

    private static func sentence(on held: [String], _ kind: String) -> String {
        guard !held.isEmpty else { return "they contain no \(kind)" }
        let more = held.count > listed ? " and \(held.count - listed) more" : ""
        return "they contain \(held.prefix(listed).joined(separator: ", "))\(more)"
    }
}
