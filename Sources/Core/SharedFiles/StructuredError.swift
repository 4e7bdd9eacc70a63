public import FoundationEssentials

/// An error of this package, with a code for programs and an explanation for people.
public protocol StructuredError: LocalizedError, CustomStringConvertible {
    /// The kinds of failure; an open set. A code is printed as its raw value.
    associatedtype Code: RawRepresentable<String>, Hashable, Sendable, CustomStringConvertible

    /// The kind of failure, for programs: compare this, not the wording.
    var code: Code { get }

    /// The operation that failed, its subject, the reason and the advice.
    var details: ErrorDetails { get }
}

extension StructuredError {
    /// The operation that failed, as a verb phrase: `read`, `take the lock`.
    public var operation: String { details.operation }

    /// The file, record, group or variable that the operation was about.
    public var subject: String { details.subject }

    /// The finding, as one or more sentences.
    public var reason: String { details.reason }

    /// The advice in one sentence.
    public var advice: String { details.advice }

    /// The system's error number, if a system call failed.
    public var errno: Int32? { details.errno }

    /// The operation, subject and reason, as the reason of an error of another module.
    package var sentence: String { details.message.sentence }

    /// The error in one line without control characters: what failed, on what, why, its code, and what to do.
    ///
    /// An error whose description is that of its cause falls back to this line.
    package var line: String { "\(details.message) [\(code.rawValue)]. \(advice.printable)" }

    /// The error in one line without control characters: the failed operation, its subject, the reason and the advice.
    public var description: String { line }
}

/// The texts that Foundation and user interfaces ask for. All four requirements are met here, so that a module can
/// declare an error without importing FoundationEssentials.
extension StructuredError {
    /// The operation, its subject and the reason as a sentence: the error's `localizedDescription`.
    public var errorDescription: String? { sentence }

    /// The reason, without control characters.
    public var failureReason: String? { reason.printable }

    /// The advice, without control characters.
    public var recoverySuggestion: String? { advice.printable }

    /// `nil`: the package has no help book.
    public var helpAnchor: String? { nil }
}

/// The fields that all errors of this package share besides their codes. No field holds contents or key material.
public struct ErrorDetails: Sendable, Hashable {
    /// The operation that failed, as a verb phrase.
    public let operation: String
    /// The file, record, group or variable that the operation was about.
    public let subject: String
    /// The finding, as one or more sentences.
    public let reason: String
    /// The advice in one sentence.
    public let advice: String
    /// The system's error number, if a system call failed.
    public let errno: Int32?
    /// The part that the subject plays in the operation.
    package let role: SubjectRole

    package init(
        _ operation: String, _ subject: String, _ reason: String, advice: String, errno: Int32? = nil,
        role: SubjectRole = .input
    ) {
        self.operation = operation
        self.subject = subject
        self.reason = reason
        self.advice = advice
        self.errno = errno
        self.role = role
    }

    /// The failure in one clause without an end mark or the advice: `cannot read /a/b: the name is taken`.
    ///
    /// This is the only place that turns the fields into text.
    package var message: String {
        let place = role == .part ? ": \"\(subject.printable)\"" : " \(subject.printable)"
        return "cannot \(operation.printable)\(place): \(reason.clause.printable)"
    }
}

/// The role of an error's subject in the operation. The same failure of a file has another exit status if the file is
/// an input that a caller named, an output, or a file of the vault.
package enum SubjectRole: Sendable, Hashable {
    /// A file, record or group that the caller named.
    case input
    /// A file that the operation creates.
    case output
    /// A file of the vault or of this user's state.
    case vault
    /// A part of the operation's object: an identifier, a variable, a key of a document.
    case part
}

extension String {
    /// The sentences as the end of a longer sentence: without the final full stop, and with a small first letter if
    /// they begin with a word.
    package var clause: String {
        let text = hasSuffix(".") ? dropLast() : self[...]
        let second = text.dropFirst().prefix(1)
        guard second.allSatisfy({ $0.isLowercase || $0 == " " }) else { return String(text) }
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// The clause as a sentence: with a full stop, and with a capital first letter if it begins with a word, not an
    /// identifier.
    package var sentence: String {
        var text = hasSuffix(".") ? self : self + "."
        if prefix(while: { $0 != " " }).allSatisfy(\.isLetter) {
            text.replaceSubrange(..<text.index(after: text.startIndex), with: text.prefix(1).uppercased())
        }
        return text
    }
}

extension String {
    /// The string as one word of a POSIX shell, for commands that an advice names.
    package var shellQuoted: String {
        let plain = !isEmpty && utf8.allSatisfy { Self.isPlain($0) }
        return plain
            ? self : "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/._-+:@%,".utf8.contains(byte)
        }
    }

    /// The string with control and invisible characters escaped, so that a planted file name can't control the
    /// terminal.
    package var printable: String {
        guard unicodeScalars.contains(where: { $0.isControl }) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            text += scalar.isControl ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
    }
}

extension Unicode.Scalar {
    /// C0, DEL, C1, line and paragraph separators, the marks that change the direction of text, and invisible
    /// characters: joiners, byte order marks, tags. Two names that differ must not look the same.
    fileprivate var isControl: Bool {
        switch value {
        case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xE0000...0xE007F:
            true
        default: false
        }
    }
}
