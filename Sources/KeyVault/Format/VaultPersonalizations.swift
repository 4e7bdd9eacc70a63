internal import CryptoPrimitives

/// Every use of BLAKE2b in the vault; `docs/vault.md`, section 3, lists the same strings.
extension Personalization {
    static let vaultChecksum = Personalization("SealedState.vsm1")
    static let vaultHeaderCode = Personalization("SealedState.vhc1")
    static let vaultBodyKey = Personalization("SealedState.vbk1")
    static let watermarkKey = Personalization("SealedState.wmk1")
    static let accessLogKey = Personalization("SealedState.vlk1")
    static let keyFileSlot = Personalization("SealedState.vkf1")
}
