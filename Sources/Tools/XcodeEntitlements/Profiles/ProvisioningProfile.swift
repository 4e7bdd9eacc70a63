public import AppGroups
public import FoundationEssentials
public import PropertyLists

/// A provisioning profile (`.mobileprovision`, `.provisionprofile`): which apps of which team may have which entitlements.
///
/// It is a property list in a signed message (RFC 5652). Reading it does not check the signature; see ``signature``.
public struct ProvisioningProfile: Sendable, Hashable {
    /// The name that the developer gave it.
    public let name: String
    /// Its own identifier, which is also its file's name in Xcode's folder.
    public let uuid: String
    /// The name of the App ID.
    public let applicationIdentifierName: String?
    /// What application identifiers begin with; mostly the team identifier.
    public let applicationIdentifierPrefixes: [String]
    /// The teams it belongs to; mostly one.
    public let teamIdentifiers: [String]
    /// The team's name.
    public let teamName: String?
    /// `iOS`, `OSX`, `tvOS`, `xrOS`, ..., as Apple writes them.
    public let platforms: [String]
    /// When it was made.
    public let created: PropertyListDate
    /// When it ends.
    public let expires: PropertyListDate
    /// The days from the one to the other, as it says.
    public let timeToLive: Int?
    /// What it allows.
    public let entitlements: EntitlementsDocument
    /// Whether a debugger may attach (`get-task-allow`).
    public let allowsDebugging: Bool
    /// How many devices it lists; nil where it lists none at all.
    public let provisionedDeviceCount: Int?
    /// Whether it is for every device.
    public let provisionsAllDevices: Bool
    /// Whether Xcode made it and renews it.
    public let isXcodeManaged: Bool
    /// The certificates that may sign apps with it.
    public let certificates: [ProfileCertificate]
    /// The certificates that came with the signature: the signer's and those above it. What they prove, ``signature`` says.
    public let signers: [ProfileCertificate]
    /// Whether the signature holds.
    public let signature: ProfileSignature

    /// What it is for.
    public var kind: ProfileKind {
        if provisionsAllDevices { return isForMac ? .developerID : .enterprise }
        if provisionedDeviceCount == nil { return .appStore }
        // There is no ad hoc distribution for Macs.
        return isForMac || allowsDebugging ? .development : .adHoc
    }

    /// Whether it is for Macs alone.
    var isForMac: Bool { platforms == ["OSX"] }

    /// What it says an app is called, prefix first: `ABCDE12345.com.example.app`, or with `*` at its end.
    public var applicationIdentifier: String? { entitlements.applicationIdentifier }

    /// When it was made.
    public var creationDate: Date { Date(timeIntervalSinceReferenceDate: created.secondsSince2001) }

    /// When it ends.
    public var expirationDate: Date { Date(timeIntervalSinceReferenceDate: expires.secondsSince2001) }
}

/// What a provisioning profile is for, as its contents tell.
public enum ProfileKind: String, Sendable, Hashable, CaseIterable {
    /// Runs on the listed devices under a debugger.
    case development
    /// Runs on the listed devices without one.
    case adHoc
    /// For upload to the App Store; runs on no device as it is.
    case appStore
    /// Runs on every device of an organisation (in-house distribution).
    case enterprise
    /// Runs on every Mac, outside the Mac App Store.
    case developerID

    /// The kind in words, for people.
    public var title: String {
        switch self {
        case .development: "development"
        case .adHoc: "ad hoc"
        case .appStore: "App Store"
        case .enterprise: "enterprise"
        case .developerID: "Developer ID"
        }
    }
}

/// Whether the signature of a profile holds.
///
/// Without the package trait `ProfileSignatures` it is always ``notChecked``: then everything that a profile says is what
/// its file says, not what Apple said.
public enum ProfileSignature: Sendable, Hashable {
    /// Nobody looked.
    case notChecked
    /// Signed by `signer` (its common name) over a digest of the named algorithm, and certified by a trusted root.
    case valid(signer: String, digest: String)
    /// Not signed by anybody trusted, or changed since; why, as the rest of a sentence about the signature.
    case refused(reason: String)

    /// For people, as the end of a line.
    public var title: String {
        switch self {
        case .notChecked: "signature not checked"
        case .valid(let signer, let digest): "signed by \(signer) (\(digest))"
        case .refused(let reason): "signature refused: \(reason)"
        }
    }
}

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

/// A certificate of a profile: a developer's, or one of those who signed it. Read, not verified.
public struct ProfileCertificate: Sendable, Hashable {
    /// The subject's common name, for example `Apple Development: Ada Example (ABCDE12345)`.
    public let commonName: String?
    /// The subject's organisation: the team's name in a developer's certificate.
    public let organization: String?
    /// The subject's organisational unit: the team identifier in a developer's certificate.
    public let organizationalUnit: String?
    /// The issuer's common name.
    public let issuerCommonName: String?
    /// The serial number, most significant byte first.
    public let serialNumber: [UInt8]
    /// The first moment of its validity.
    public let notBefore: PropertyListDate
    /// The last moment of its validity.
    public let notAfter: PropertyListDate
    /// The certificate itself, as DER.
    package let der: [UInt8]

    /// Whether a moment lies within its validity.
    public func isValid(at date: PropertyListDate) -> Bool {
        (notBefore.secondsSince2001...max(notBefore.secondsSince2001, notAfter.secondsSince2001))
            .contains(date.secondsSince2001)
    }
}

extension ProfileCertificate {
    /// What people call it: its name, or its serial number where it has none.
    public var title: String {
        commonName ?? "number " + serialNumber.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
