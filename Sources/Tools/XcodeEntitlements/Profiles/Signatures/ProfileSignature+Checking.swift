internal import PropertyLists

extension ProfileSignature {
    /// True if this build can check signatures, because it has the package trait `ProfileSignatures`.
    public static var isCheckable: Bool {
        #if ProfileSignatures
        true
        #else
        false
        #endif
    }

    /// Checks a message's signature, if this build can.
    ///
    /// - Parameter date: The date of signing, at which every certificate must be valid. Later expiry does not matter:
    ///   signers' certificates expire, and their profiles are read for years.
    init(of message: SignedMessage, signedAt date: PropertyListDate, trusting trust: ProfileTrust) {
        #if ProfileSignatures
        do throws(SignatureFault) {
            guard message.signers.count == 1 else { throw SignatureFault("it has \(message.signers.count) signers") }
            let certificates = try ChainCertificate.all(of: message)
            let signer = try MessageSigner(parsing: message.signers[0])
            let leaf = try signer.certificate(among: certificates)
            let digest = try signer.verify(message.content, with: leaf)
            try CertificateChain(from: leaf, among: certificates, trusting: trust).check(at: date, trusting: trust)
            self = .valid(signer: leaf.facts.title, digest: digest.title)
        } catch {
            self = .refused(reason: error.reason)
        }
        #else
        self = .notChecked
        #endif
    }
}
