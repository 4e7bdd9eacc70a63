package import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// A file with a secret key that no passphrase protects: a program that can read the file has the key.
package struct UnprotectedKeyFile: Sendable {
    /// Whose key it is.
    package enum Kind: String, Sendable, CaseIterable {
        case identity
        case writerKey
        case teamKey

        var text: KeyTextKind {
            switch self {
            case .identity: .identity
            case .writerKey: .writer
            case .teamKey: .team
            }
        }
    }

    package let path: String
    package let kind: Kind
    /// Of an identity: the recipients of its unprotected keys.
    private let recipients: [Recipient]

    /// Returns `nil` for a file whose keys are protected, one that holds none, and one that cannot be read.
    ///
    /// A pipe is not read: its contents are for the program that it was opened for.
    /// - Parameter isStated: Whether a person or a program named it: then links are followed.
    package init?(path: String, isStated: Bool = true) {
        var status = stat()
        guard (isStated ? stat(path, &status) : lstat(path, &status)) == 0, status.st_mode & S_IFMT == S_IFREG,
            let text = try? SecretFile.read(
                path: path, at: isStated ? .stated : .usual, refusing: 0, limit: KeyText.maximumSize,
                operation: "examine")
        else { return nil }
        for kind in Kind.allCases {
            guard let recipients = try? Self.plainKeys(in: text, kind) else { continue }
            (self.path, self.kind, self.recipients) = (path, kind, recipients)
            return
        }
        return nil
    }

    /// The unprotected key files among those that are stated and those at the usual place of keys.
    package static func all(stated: [String], in home: GroupsHome) -> [UnprotectedKeyFile] {
        let usual =
            (try? Directory.open(home.keysPath).entries())?.map { home.keysPath.appending($0.name).string } ?? []
        var seen: Set<String> = []
        let named = stated.filter { seen.insert($0).inserted }.compactMap { UnprotectedKeyFile(path: $0) }
        return named
            + usual.sorted().filter { seen.insert($0).inserted }
            .compactMap { UnprotectedKeyFile(path: $0, isStated: false) }
    }

    /// The slots of a group's vault, none where it has no vault; nil where they cannot be read.
    package static func slots(of group: AccessGroup, in home: GroupsHome) -> [SlotSummary]? {
        do throws(VaultError) { return try Vault.status(group, in: home).slots } catch {
            return error.code == .absent ? [] : nil
        }
    }

    /// Whether it is the identity of a slot that opens what is available *when unlocked*; nil where that is unknown.
    ///
    /// - Parameter slots: The slots of the vault; nil where they cannot be read.
    package func reachesWhenUnlocked(_ slots: [SlotSummary]?) -> Bool? {
        guard let slots else { return kind == .identity ? nil : false }
        let own = Set(recipients)
        return slots.contains { slot in
            slot.reach == .whenUnlocked && slot.recipient.map(own.contains) ?? false
        }
    }

    /// The recipients of the unprotected keys of a text; `nil` where it has no such key.
    private static func plainKeys(in text: borrowing SecretBytes, _ kind: Kind) throws(VaultError) -> [Recipient]? {
        var recipients: [Recipient] = []
        var isPlain = false
        try text.withUnsafeBytes { text throws(VaultError) in
            try KeyText.forEachKey(in: text, kind.text) { line throws(VaultError) in
                switch consume line {
                case .protected: break
                case .plain(let secret):
                    isPlain = true
                    guard kind == .identity, let key = try? IdentityKey(secret) else { return }
                    recipients.append(try Recipient(key.publicKey))
                }
            }
        }
        return isPlain ? recipients : nil
    }
}
