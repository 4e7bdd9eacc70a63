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
