package import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// A file with a secret key without a passphrase: a program that can read the file has the key.
package struct UnprotectedKeyFile: Sendable {
    /// The kind of the key's owner.
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
    /// For an identity, the recipients of its unprotected keys.
    private let recipients: [Recipient]

    /// Returns `nil` for a file whose keys are protected, a file without keys, and a file that cannot be read.
    ///
    /// A pipe is not read: its contents are for the program that it was opened for.
    /// - Parameter isStated: Whether a person or a program named the file: then links are followed.
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

    /// Returns the unprotected key files among the stated ones and those at the usual place of keys.
    package static func all(stated: [String], in home: GroupsHome) -> [UnprotectedKeyFile] {
        let usual =
            (try? Directory.open(home.keysPath).entries())?.map { home.keysPath.appending($0.name).string } ?? []
        var seen: Set<String> = []
        let named = stated.filter { seen.insert($0).inserted }.compactMap { UnprotectedKeyFile(path: $0) }
        return named
            + usual.sorted().filter { seen.insert($0).inserted }
            .compactMap { UnprotectedKeyFile(path: $0, isStated: false) }
    }

    /// Returns the slots of a group's vault, empty without a vault; `nil` if they cannot be read.
    package static func slots(of group: AccessGroup, in home: GroupsHome) -> [SlotSummary]? {
        do throws(VaultError) { return try Vault.status(group, in: home).slots } catch {
            return error.code == .absent ? [] : nil
        }
    }

    /// Returns whether it is the identity of a slot that opens *when unlocked*; `nil` if unknown.
    ///
    /// - Parameter slots: The slots of the vault; `nil` if they cannot be read.
    package func reachesWhenUnlocked(_ slots: [SlotSummary]?) -> Bool? {
        guard let slots else { return kind == .identity ? nil : false }
        let own = Set(recipients)
        return slots.contains { slot in
            slot.reach == .whenUnlocked && slot.recipient.map(own.contains) ?? false
        }
    }

    /// Returns the recipients of the unprotected keys of a text; `nil` if it has no such key.
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
