/// A text that has to stand in the bytes before anything dearer looks at them.
struct Keyword: Sendable {
    let bytes: [UInt8]
    /// Whether capitals are told from small letters.
    let isExact: Bool
    let role: Role

    /// What a keyword may stand for.
    enum Role: Sendable {
        /// A secret, to be looked at by the detector of this index.
        case detector(Int32)
        /// A part of a name that secrets have.
        case name
        /// A carrier or a secret in letters. Whether it begins there, or may have begun before.
        case wrapped(WrappedRun.Encoding, isStart: Bool)
        /// An escape of JSON that may hide a letter of a secret.
        case escape
    }

    init(_ bytes: [UInt8], isExact: Bool = true, _ role: Role) {
        self.bytes = bytes
        self.isExact = isExact
        self.role = role
    }

    init(_ text: String, isExact: Bool = true, _ role: Role) {
        self.init(Array(text.utf8), isExact: isExact, role)
    }
}
