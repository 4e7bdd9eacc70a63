internal import CryptoPrimitives

/// Every use of BLAKE2b in the blob format; `docs/format.md`, sections 4, 6 and 7, has the same strings.
extension Personalization {
    static let groupTag = Personalization("SealedState.grp1")
    static let nameTag = Personalization("SealedState.nam1")
    static let keyID = Personalization("SealedState.kid1")
    static let salt = Personalization("SealedState.slt1")
    static let subkey = Personalization("SealedState.sub1")
    static let streamChunk = Personalization("SealedState.sch1")
    static let streamDigest = Personalization("SealedState.sdg1")
    static let writerID = Personalization("SealedState.wid1")
    static let recordContents = Personalization("SealedState.rct1")
    static let recordSignature = Personalization("SealedState.rsg1")
}
