public import AppGroups
public import FoundationEssentials
public import PropertyLists

/// A provisioning profile (`.mobileprovision`, `.provisionprofile`): the entitlements that apps of a team may have.
///
/// The file is a property list in a signed message (RFC 5652). Parsing does not require a valid signature; see
/// ``signature``.
public struct ProvisioningProfile: Sendable, Hashable {
    /// The name from the developer.
    public let name: String
    /// The profile's identifier, which is also its file's name in Xcode's folder.
    public let uuid: String
    /// The name of the App ID.
    public let applicationIdentifierName: String?
    /// The prefixes of application identifiers; usually the team identifier.
    public let applicationIdentifierPrefixes: [String]
    /// The teams of the profile; usually one.
    public let teamIdentifiers: [String]
    /// The team's name.
    public let teamName: String?
    /// The platforms in Apple's spelling: `iOS`, `OSX`, `tvOS`, `xrOS`, ....
    public let platforms: [String]
    /// The creation date.
    public let created: PropertyListDate
    /// The expiry date.
    public let expires: PropertyListDate
    /// The stated number of days from creation to expiry.
    public let timeToLive: Int?
    /// The allowed entitlements.
    public let entitlements: EntitlementsDocument
    /// True if a debugger may attach (`get-task-allow`).
    public let allowsDebugging: Bool
    /// The number of listed devices, or `nil` without a list.
    public let provisionedDeviceCount: Int?
    /// True if the profile is for every device.
    public let provisionsAllDevices: Bool
    /// True if Xcode created the profile and renews it.
    public let isXcodeManaged: Bool
    /// The certificates that may sign apps with the profile.
    public let certificates: [ProfileCertificate]
    /// The certificates in the signature: the signer's and those above it. See ``signature`` for their validity.
    public let signers: [ProfileCertificate]
    /// The state of the signature.
    public let signature: ProfileSignature

    /// The purpose of the profile.
    public var kind: ProfileKind {
        if provisionsAllDevices { return isForMac ? .developerID : .enterprise }
        if provisionedDeviceCount == nil { return .appStore }
        // Macs have no ad hoc distribution.
        return isForMac || allowsDebugging ? .development : .adHoc
    }

    /// True if the profile is for Macs only.
    var isForMac: Bool { platforms == ["OSX"] }

    /// The allowed identifier of an app with its prefix: `ABCDE12345.com.example.app`, or with a final `*`.
    public var applicationIdentifier: String? { entitlements.applicationIdentifier }

    /// The creation date.
    public var creationDate: Date { Date(timeIntervalSinceReferenceDate: created.secondsSince2001) }

    /// The expiry date.
    public var expirationDate: Date { Date(timeIntervalSinceReferenceDate: expires.secondsSince2001) }
}

/// The purpose of a provisioning profile, derived from its contents.
public enum ProfileKind: String, Sendable, Hashable, CaseIterable {
    /// The app runs on the listed devices under a debugger.
    case development
    /// The app runs on the listed devices without a debugger.
    case adHoc
    /// The app is uploaded to the App Store and runs on no device before that.
    case appStore
    /// The app runs on every device of an organisation (in-house distribution).
    case enterprise
    /// The app runs on every Mac, outside the Mac App Store.
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

/// The state of a profile's signature.
///
/// Without the package trait `ProfileSignatures` it is always ``notChecked``, so that the profile's contents are not
/// verified to come from Apple.
public enum ProfileSignature: Sendable, Hashable {
    /// The signature was not checked.
    case notChecked
    /// Signed by `signer` (its common name) over a digest of the named algorithm, and certified by a trusted root.
    case valid(signer: String, digest: String)
    /// The signer is not trusted, or the contents were changed; with the reason as the rest of a sentence about the
    /// signature.
    case refused(reason: String)

    /// The state for display, as the end of a line.
    public var title: String {
        switch self {
        case .notChecked: "signature not checked"
        case .valid(let signer, let digest): "signed by \(signer) (\(digest))"
        case .refused(let reason): "signature refused: \(reason)"
        }
    }
}

/// The trusted signers of profiles: a root by its certificate's fingerprint, and the names below it.
///
/// The root alone proves little, because every developer's certificate chains to Apple's root as well.
public struct ProfileTrust: Sendable, Hashable {
    /// The SHA-256 of the root certificates, 32 bytes each. The message contains the certificates themselves.
    public var roots: Set<[UInt8]>
    /// The common name of signers of profiles for devices.
    public var deviceSigner: String
    /// The common name of their certificate authority.
    public var deviceAuthority: String

    /// Creates trust in a private authority, whose signers for Macs carry Apple's marks.
    public init(roots: Set<[UInt8]>, deviceSigner: String, deviceAuthority: String) {
        self.roots = roots
        self.deviceSigner = deviceSigner
        self.deviceAuthority = deviceAuthority
    }

    /// The trust in Apple: the root of 2006, published at https://www.apple.com/certificateauthority, and the names
    /// that iOS compares (`SecPolicyCreateiPhoneProvisioningProfileSigning`).
    public static let apple = Self(
        roots: [
            [
                0xB0, 0xB1, 0x73, 0x0E, 0xCB, 0xC7, 0xFF, 0x45, 0x05, 0x14, 0x2C, 0x49, 0xF1, 0x29, 0x5E, 0x6E,
                0xDA, 0x6B, 0xCA, 0xED, 0x7E, 0x2C, 0x68, 0xC5, 0xBE, 0x91, 0xB5, 0xA1, 0x10, 0x01, 0xF0, 0x24,
            ]
        ], deviceSigner: "Apple iPhone OS Provisioning Profile Signing",
        deviceAuthority: "Apple iPhone Certification Authority")
}

/// A certificate of a profile: a developer's, or one of its signers. Parsed, not verified.
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
    /// The start of its validity.
    public let notBefore: PropertyListDate
    /// The end of its validity.
    public let notAfter: PropertyListDate
    /// The certificate itself, as DER.
    package let der: [UInt8]

    /// Returns whether a date is within the validity.
    public func isValid(at date: PropertyListDate) -> Bool {
        (notBefore.secondsSince2001...max(notBefore.secondsSince2001, notAfter.secondsSince2001))
            .contains(date.secondsSince2001)
    }
}

extension ProfileCertificate {
    /// The certificate's name, or its serial number if it has no name.
    public var title: String {
        commonName ?? "number " + serialNumber.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
