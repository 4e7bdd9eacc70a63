internal import AppGroups
internal import PropertyLists
internal import SharedFiles

/// A reason why a target signed with a profile would not be installed, not start, or lack an entitlement.
public struct ProfileProblem: Sendable, Hashable, CustomStringConvertible {
    /// The kind of the problem, for programs.
    public let code: Code

    /// The subject: a group, an identifier, a certificate's name, a date.
    public let subject: String

    /// The problem as a sentence, safe to print.
    public let reason: String

    /// The advice as a sentence, safe to print.
    public let advice: String

    /// Reason and advice in one line.
    public var description: String { "\(reason) \(advice)" }

    /// Creates a problem. Names come from files, so the sentences are made safe to print. The subject is not changed.
    init(code: Code, subject: String, reason: String, advice: String) {
        self.code = code
        self.subject = subject
        self.reason = reason.printable
        self.advice = advice.printable
    }
}

extension ProfileProblem {
    /// The kind of a problem. The list grows.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The code's name, the same as its constant's.
        public let rawValue: String

        /// Creates a code from a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code's name.
        public var description: String { rawValue }

        /// The profile has expired.
        public static let expired = Self(rawValue: "expired")
        /// The profile's creation date is in the future.
        public static let notYetValid = Self(rawValue: "notYetValid")
        /// The profile belongs to another team.
        public static let wrongTeam = Self(rawValue: "wrongTeam")
        /// The profile is for another app.
        public static let wrongApplication = Self(rawValue: "wrongApplication")
        /// The profile does not contain an app group.
        public static let groupAbsent = Self(rawValue: "groupAbsent")
        /// The profile does not contain a keychain access group.
        public static let accessGroupAbsent = Self(rawValue: "accessGroupAbsent")
        /// The profile does not contain the key-value store identifier.
        public static let keyValueStoreAbsent = Self(rawValue: "keyValueStoreAbsent")
        /// A debugger is wanted, but the profile does not allow it.
        public static let debuggingRefused = Self(rawValue: "debuggingRefused")
        /// A debugger is not wanted, but the profile allows it.
        public static let debuggingAllowed = Self(rawValue: "debuggingAllowed")
        /// Some of several certificates are outside their validity. The others can still sign.
        public static let certificateExpired = Self(rawValue: "certificateExpired")
        /// The profile has no valid certificate, so it cannot be used for signing.
        public static let noValidCertificate = Self(rawValue: "noValidCertificate")
        /// The signature was checked and refused.
        public static let signatureRefused = Self(rawValue: "signatureRefused")
    }
}

// Problems of the profile itself.
extension ProfileProblem {
    static func expired(_ date: PropertyListDate) -> Self {
        let day = ProfileDay.text(date)
        return Self(
            code: .expired, subject: day, reason: "The profile expired on \(day).",
            advice: "Renew it, or let Xcode manage it.")
    }

    static func notYetValid(_ date: PropertyListDate) -> Self {
        let day = ProfileDay.text(date)
        return Self(
            code: .notYetValid, subject: day, reason: "The profile was made on \(day), which is in the future.",
            advice: "Set this machine's clock.")
    }

    static func noValidCertificate(_ certificates: [ProfileCertificate]) -> Self {
        Self(
            code: .noValidCertificate, subject: list(certificates.map(\.title)),
            reason: "None of the profile's certificates is valid: nothing can be signed with it.",
            advice: "Make a new certificate, and add it to the profile.")
    }

    static func certificateExpired(_ certificate: ProfileCertificate) -> Self {
        let days = "\(ProfileDay.text(certificate.notBefore)) to \(ProfileDay.text(certificate.notAfter))"
        return Self(
            code: .certificateExpired, subject: certificate.title,
            reason: "The certificate \(certificate.title) is valid from \(days) only.",
            advice: "Remove it from the profile; the other certificates remain usable.")
    }

    static func signatureRefused(_ reason: String) -> Self {
        Self(
            code: .signatureRefused, subject: "signature", reason: "The profile's signature is refused: \(reason).",
            advice: "Download the profile again.")
    }
}

// Problems with a target.
extension ProfileProblem {
    static func wrongTeam(_ team: String, held: [String]) -> Self {
        Self(
            code: .wrongTeam, subject: team,
            reason: "The profile belongs to team \(list(held)), the target to \(team).",
            advice: "Use a profile of team \(team), or set DEVELOPMENT_TEAM.")
    }

    static func wrongApplication(_ bundle: String, held: String) -> Self {
        Self(
            code: .wrongApplication, subject: bundle, reason: "The profile is for \(held), not for \(bundle).",
            advice: hint(bundle, [held]) ?? "Make a profile for the App ID \(bundle); each extension has its own.")
    }

    static func groupAbsent(_ group: String, held: [String]) -> Self {
        Self(
            code: .groupAbsent, subject: group,
            reason: "The profile does not hold the app group \(group); it holds \(list(held)).",
            advice: hint(group, held)
                ?? "Add the group to the App ID on the developer account, then create the profile again.")
    }

    static func accessGroupAbsent(_ group: String, held: [String]) -> Self {
        Self(
            code: .accessGroupAbsent, subject: group,
            reason: "The profile does not hold the keychain access group \(group); it holds \(list(held)).",
            advice: hint(group, held) ?? "Begin the group with the profile's prefix, $(AppIdentifierPrefix).")
    }

    static func keyValueStoreAbsent(_ identifier: String, held: String?) -> Self {
        let stores = list(held.map { [$0] } ?? [])
        return Self(
            code: .keyValueStoreAbsent, subject: identifier,
            reason: "The profile does not hold the key-value store \(identifier); it holds \(stores).",
            advice: "Turn on iCloud key-value storage for the App ID, then create the profile again.")
    }

    static func debuggingRefused(_ kind: ProfileKind) -> Self {
        Self(
            code: .debuggingRefused, subject: "get-task-allow",
            reason: "The target is meant to be debugged, and the profile (\(kind.title)) does not allow it.",
            advice: "Use a development profile.")
    }

    static func debuggingAllowed(_ kind: ProfileKind) -> Self {
        Self(
            code: .debuggingAllowed, subject: "get-task-allow",
            reason: "The target is meant for release, and the profile (\(kind.title)) allows debuggers.",
            advice: "Use a distribution profile.")
    }

    private static func list(_ texts: [String]) -> String {
        if texts.isEmpty { return "none" }
        let rest = texts.count - mostNames
        return texts.prefix(mostNames).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    /// The limit on names in a sentence.
    private static let mostNames = 8

    /// Returns a suggestion for a misspelled name, because most mismatches are a typo of one letter.
    private static func hint(_ wanted: String, _ held: [String]) -> String? {
        NearestName.nearest(to: wanted, among: held).map { "Is \($0) meant?" }
    }
}
