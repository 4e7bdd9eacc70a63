internal import SharedFiles

/// Why a target signed with a profile would not be installed, not start, or not get what it asks for.
public struct ProfileProblem: Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, for programs.
    public let code: Code

    /// What it concerns: a group, an identifier, a certificate's name, a date.
    public let subject: String

    /// What is wrong, as a sentence; safe to print.
    public let reason: String

    /// What to do, as a sentence; safe to print.
    public let advice: String

    /// Reason and advice in one line.
    public var description: String { "\(reason) \(advice)" }

    /// Names come from files: the sentences are made safe to print, the subject stays as it is.
    init(code: Code, subject: String, reason: String, advice: String) {
        self.code = code
        self.subject = subject
        self.reason = reason.printable
        self.advice = advice.printable
    }
}

extension ProfileProblem {
    /// What is wrong. The list grows.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The code's name, the same as its constant's.
        public let rawValue: String

        /// Makes a code of any name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code's name.
        public var description: String { rawValue }

        /// The profile's time is over.
        public static let expired = Self(rawValue: "expired")
        /// The profile's creation lies in the future.
        public static let notYetValid = Self(rawValue: "notYetValid")
        /// The profile belongs to another team.
        public static let wrongTeam = Self(rawValue: "wrongTeam")
        /// The profile is for another app.
        public static let wrongApplication = Self(rawValue: "wrongApplication")
        /// The profile does not hold an app group.
        public static let groupAbsent = Self(rawValue: "groupAbsent")
        /// The profile does not hold a keychain access group.
        public static let accessGroupAbsent = Self(rawValue: "accessGroupAbsent")
        /// The profile does not hold the key-value store identifier.
        public static let keyValueStoreAbsent = Self(rawValue: "keyValueStoreAbsent")
        /// A debugger is wanted and the profile does not let it in.
        public static let debuggingRefused = Self(rawValue: "debuggingRefused")
        /// A debugger is not wanted and the profile lets it in.
        public static let debuggingAllowed = Self(rawValue: "debuggingAllowed")
        /// One of several certificates is outside its validity; the others still sign.
        public static let certificateExpired = Self(rawValue: "certificateExpired")
        /// No certificate of the profile is valid: nobody can sign with it.
        public static let noValidCertificate = Self(rawValue: "noValidCertificate")
        /// The signature was checked and does not hold.
        public static let signatureRefused = Self(rawValue: "signatureRefused")
    }
}
