extension VaultError.Code {
    /// What to do where the place that failed knows nothing better.
    var defaultAdvice: String { Self.advice[self] ?? "Correct the call or the file." }

    private static let advice: [VaultError.Code: String] = [
        .absent: "Create it with sealctl init, or let the producing program open the store first.",
        // `vault unlock` helps in a vault with persons alone: the places that know the slots say so.
        .locked: "Give what opens it (sealctl vault slot list); no new key is made meanwhile.",
        .denied: "Ask the vault's owner to share it with you, or run as its owner.",
        .corrupt: "Restore the file from a backup; it was left as it is.",
        .wrongPassphrase: "Try again; the vault is unchanged.",
        .wrongKeyFile: "Restore the key file that belongs to this vault.",
        .malformedKeyFile: "Restore the key file from a backup; it was left as it is.",
        .wrongIdentity: "Use the identity whose recipient has a slot: sealctl vault slot list.",
        .malformedIdentity: "Copy it again, whole; a new one is made with sealctl vault identity.",
        .noCredential: "Name it in the unit with LoadCredential= or LoadCredentialEncrypted=.",
        .unsupported: "Update this program.",
        .wrongGroup: "Restore the vault of this access group; this one was copied from another.",
        .orphanedBlobs: "Restore the vault that holds their key, or start anew with sealctl init --abandon, "
            + "which moves them to quarantine.",
        .containerAway: "Bring it back: mount its disk, or restore it.",
        .alreadyExists: "Use the vault that is there.",
        .lockTimeout: "Wait for the other program, or end it if it hangs.",
        .duplicateItem: "Update the item, or choose another account.",
        .itemNotFound: "See which there are: sealctl vault list.",
        .wrongDevice: "Add it on this machine; it was marked thisDeviceOnly on another.",
        .tooLarge: "Keep less in it.",
        .wrongCredential: "Restore the credential that belongs to this vault.",
        .tooCostly: "Open it with another slot, or remove passphrase slots that nobody needs.",
        .durabilityUnknown: "Look whether it is there, and make it again if in doubt.",
        .slotNotFound: "See which there are now: sealctl vault slot list.",
        .lastSlot: "Add another slot first.",
        .rolledBack: "Restore the newest copy; to go on with this one, sealctl vault accept.",
        .replaced: "Open it again.",
        .missing: "Restore it from a backup (sealctl vault import). Where persons open vault.person still, first "
            + "give up the missing file: sealctl vault rekey --without-vault. To give up all of it, sealctl init --abandon.",
        .forked: "Ask who shares it with you which one is meant; to go on with this one, sealctl vault accept.",
        .notAccepted: "Compare its fingerprint with one who shares it, then: sealctl vault accept.",
        .downgraded: "Ask a person who can unlock the vault; nothing was read or written.",
        .teamKeyNeeded: "Give its file: --team-key FILE. A change that keeps the person key does not need it.",
        .noRoster: "Make it first: sealctl roster init --team-key FILE.",
        .unvouchedSlots: "Name the slots to keep, or remove them.",
        .keyNotFound: "See which there are: sealctl vault keys.",
        .keyInUse: "See who needs it: sealctl vault rotate --status.",
        .notAnExport: "Give a file that sealctl vault export wrote.",
        .isAnExport: "Import it: sealctl vault import.",
        .noUnlockCache: "Log in so that there is a runtime directory, or give the passphrase at each use.",
    ]
}
