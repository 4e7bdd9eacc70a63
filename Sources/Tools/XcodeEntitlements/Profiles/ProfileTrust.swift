/// Whose signature on a profile counts: a root by its certificate's fingerprint, and the names below it.
///
/// The root alone proves little: every developer's certificate hangs on Apple's too.
public struct ProfileTrust: Sendable, Hashable {
    /// The SHA-256 of the root certificates, 32 bytes each. The certificate itself comes with the message.
    public var roots: Set<[UInt8]>
    /// Signers of profiles for devices, by common name.
    public var deviceSigner: String
    /// The authority that certifies them, by common name.
    public var deviceAuthority: String

    /// Trusts an authority of one's own; its signers for Macs carry Apple's marks.
    public init(roots: Set<[UInt8]>, deviceSigner: String, deviceAuthority: String) {
        self.roots = roots
        self.deviceSigner = deviceSigner
        self.deviceAuthority = deviceAuthority
    }

    /// Apple's own: the root of 2006, published at https://www.apple.com/certificateauthority, and the names that iOS
    /// compares (`SecPolicyCreateiPhoneProvisioningProfileSigning`).
    public static let apple = Self(
        roots: [
            [
                0xB0, 0xB1, 0x73, 0x0E, 0xCB, 0xC7, 0xFF, 0x45, 0x05, 0x14, 0x2C, 0x49, 0xF1, 0x29, 0x5E, 0x6E,
                0xDA, 0x6B, 0xCA, 0xED, 0x7E, 0x2C, 0x68, 0xC5, 0xBE, 0x91, 0xB5, 0xA1, 0x10, 0x01, 0xF0, 0x24,
            ]
        ], deviceSigner: "Apple iPhone OS Provisioning Profile Signing",
        deviceAuthority: "Apple iPhone Certification Authority")
}
