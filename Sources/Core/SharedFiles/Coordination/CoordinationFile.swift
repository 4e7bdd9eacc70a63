/// What processes leave in the directory of a coordination domain, for who looks at that directory.
package enum CoordinationFile: Sendable, Hashable {
    /// The lock file of accesses; it is empty.
    case lock
    /// The socket at which a process with presenters listens.
    case socket
    /// The list of what a process presents.
    case registration

    /// The most bytes that a list has.
    package static let maximumSize = PresenterRegistration.maximumSize

    /// What has that name; nil for names that no process of ours uses.
    package init?(name: String) {
        if name == CoordinationDomain.lockName {
            self = .lock
        } else if Self.hasAddress(name, PresenterRegistration.socketSuffix) {
            self = .socket
        } else if Self.hasAddress(name, PresenterRegistration.itemsSuffix) {
            self = .registration
        } else {
            return nil
        }
    }

    /// Whether these bytes are such a list and nothing else.
    package static func isRegistration(_ bytes: [UInt8]) -> Bool {
        bytes.count <= maximumSize && PresenterRegistration(name: "", bytes) != nil
    }

    /// Addresses are 16 hexadecimal digits.
    private static func hasAddress(_ name: String, _ suffix: String) -> Bool {
        guard name.hasSuffix(suffix), name.utf8.count == 16 + suffix.utf8.count else { return false }
        return name.utf8.prefix(16).allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
    }
}
