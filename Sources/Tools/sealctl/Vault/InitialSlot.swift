internal import AppGroups
internal import KeyVault

/// The only slot of a vault that `init` makes.
struct InitialSlot {
    let slot: NewSlot
    let credential: VaultCredential
    /// What opens it, as a word for a person.
    let word: String
}

extension KeyOptions {
    /// What was stated, as a slot; the group's own key file where nothing was.
    func newSlot(for group: AccessGroup, _ unlockTime: UnlockTime?) throws(Failure) -> InitialSlot {
        let credential = try stated(for: group, isNew: true) ?? .defaultKeyFile
        switch credential {
        case .passphrase(let passphrase):
            let costs = try unlockTime?.costs() ?? .recommended
            return InitialSlot(slot: .passphrase(passphrase, costs), credential: credential, word: "passphrase")
        case .keyFile(let path):
            return InitialSlot(slot: .keyFile(path: path), credential: credential, word: "key file")
        case .systemdCredential(let name):
            return InitialSlot(slot: .systemdCredential(name: name), credential: credential, word: "credential")
        case .identity(let identity):
            return InitialSlot(slot: .identity(identity), credential: credential, word: "identity")
        case .automatic, .defaultKeyFile, .unlocked:
            return InitialSlot(slot: .defaultKeyFile, credential: .defaultKeyFile, word: "key file")
        }
    }
}
