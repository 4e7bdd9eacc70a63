internal import KeyVault
internal import SealedState

/// What `--verbose` says of a vault or a store that was opened.
enum OpeningTalk {
    static func tell(of store: SealedStore) {
        Talk.detail("opened the container \(store.containerPath)")
        tell(of: store.vault)
    }

    static func tell(of vault: Vault) {
        let opener = vault.openingSlot.map { id in
            let kind = try? vault.slots().first { $0.id == id }?.kind
            return "slot \(id)" + (kind.map { " (\($0))" } ?? "")
        }
        Talk.detail("opened the vault \(vault.path) with \(opener ?? "what a person unlocked before")")
    }
}
