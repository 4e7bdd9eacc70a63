internal import KeyVault
internal import SealedState

/// What `--verbose` says of a vault or a store that was opened, and a warning where a rekey could not be completed.
enum OpeningTalk {
    static func tell(of store: SealedStore) {
        Talk.detail("opened the container \(store.containerPath)")
        tell(of: store.vault)
    }

    static func tell(of vault: Vault) {
        if let failure = vault.rekeyFailure {
            Warning(
                "rekeyNotCompleted",
                "a rekey of \(vault.accessGroup) was begun and is not completed: \(failure.reason.withoutFullStop)",
                hint: failure.advice
            ).report(asJSON: GlobalFlags.wantsJSON(ProgramArguments.all))
        }
        let opener = vault.openingSlot.map { id in
            let kind = try? vault.slots().first { $0.id == id }?.kind
            return "slot \(id)" + (kind.map { " (\($0))" } ?? "")
        }
        Talk.detail("opened the vault \(vault.path) with \(opener ?? "what a person unlocked before")")
    }
}

extension String {
    /// A sentence as the end of a longer one.
    var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
