#if ProfileSignatures
internal import PropertyLists
internal import SwiftASN1

/// A chain of a signer, its authority and a trusted root, the only length that profiles use.
struct CertificateChain {
    private let leaf: ChainCertificate
    private let authority: ChainCertificate
    private let root: ChainCertificate

    /// Apple's marks of a signer of profiles for Macs, and of the authority above it
    /// (`SecPolicyCreateOSXProvisioningProfileSigning`).
    private static let macSigner: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 4, 11]
    private static let macAuthority: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]

    init(
        from leaf: ChainCertificate, among certificates: [ChainCertificate], trusting trust: ProfileTrust
    ) throws(SignatureFault) {
        let roots = certificates.filter { trust.roots.contains($0.fingerprint) }
        for authority in certificates where authority.certifies(leaf) {
            guard let root = roots.first(where: { $0.certifies(authority) }) else { continue }
            (self.leaf, self.authority, self.root) = (leaf, authority, root)
            return
        }
        throw SignatureFault("\(leaf.facts.title) is not certified by a trusted authority")
    }

    /// Checks the rules beyond keys and names.
    func check(at date: PropertyListDate, trusting trust: ProfileTrust) throws(SignatureFault) {
        for link in [leaf, authority, root] {
            guard link.facts.isValid(at: date) else {
                throw SignatureFault("the certificate \(link.facts.title) was not valid when the profile was made")
            }
            guard !link.hasUnknownRule else {
                throw SignatureFault("the certificate \(link.facts.title) has an unknown critical extension")
            }
        }
        guard leaf.maySign else {
            throw SignatureFault("the certificate \(leaf.facts.title) must not be used for signatures")
        }
        guard isForDevices(trust) || isForMacs else {
            throw SignatureFault("\(leaf.facts.title) is not a certificate for profiles")
        }
    }

    private func isForDevices(_ trust: ProfileTrust) -> Bool {
        leaf.facts.commonName == trust.deviceSigner && authority.facts.commonName == trust.deviceAuthority
    }

    private var isForMacs: Bool { leaf.has(Self.macSigner) && authority.has(Self.macAuthority) }
}
#endif
