import AppGroups
import FoundationEssentials
import PropertyLists
import SharedFiles
import TestSupport
import Testing

@testable import XcodeEntitlements

@Suite struct ProvisioningProfileTests {
    @Test func aProfileSaysWhatItsListSays() throws {
        let profile = try ProfileFixture.profile("development.mobileprovision")
        #expect(profile.name == "Example Development")
        #expect(profile.uuid == "11111111-2222-3333-4444-555555555555")
        #expect(profile.applicationIdentifierName == "Example App")
        #expect(profile.applicationIdentifierPrefixes == ["ABCDE12345"])
        #expect(profile.applicationIdentifier == "ABCDE12345.com.example.app")
        #expect(profile.bundleIdentifier == "com.example.app")
        #expect(profile.teamIdentifiers == ["ABCDE12345"])
        #expect(profile.teamName == "Beispiel Söhne")
        #expect(profile.platforms == ["iOS"])
        #expect(profile.created == (try ProfileFixture.date("2026-06-01T12:00:00Z")))
        #expect(profile.expires == (try ProfileFixture.date("2069-06-01T12:00:00Z")))
        #expect(profile.expirationDate.timeIntervalSinceReferenceDate == profile.expires.secondsSince2001)
        #expect(profile.creationDate < profile.expirationDate)
        #expect(profile.timeToLive == 365)
        #expect(profile.allowsDebugging)
        #expect(profile.provisionedDeviceCount == 2)
        #expect(!profile.provisionsAllDevices)
        #expect(!profile.isXcodeManaged)
    }

    @Test func itsEntitlementsAreADocument() throws {
        let entitlements = try ProfileFixture.profile("development.mobileprovision").entitlements
        #expect(entitlements.applicationGroups == ["group.com.example.app", "group.com.example.shared"])
        #expect(entitlements.keychainAccessGroups == ["ABCDE12345.*", "com.apple.token"])
        #expect(entitlements.applicationIdentifier == "ABCDE12345.com.example.app")
        #expect(entitlements.teamIdentifier == "ABCDE12345")
        #expect(entitlements.isSandboxed == nil)
    }

    @Test func itsCertificatesShowNameTeamAndTimes() throws {
        let certificates = try ProfileFixture.profile("development.mobileprovision").certificates
        #expect(certificates.count == 2)
        let ada = try #require(certificates.first)
        #expect(ada.commonName == "Apple Development: Ada Example (ADA0000001)")
        #expect(ada.organizationalUnit == "ABCDE12345")
        #expect(ada.organization == "Beispiel Söhne")
        #expect(ada.issuerCommonName == "Example Relations Authority")
        #expect(!ada.serialNumber.isEmpty)
        #expect(ada.notBefore == (try ProfileFixture.date("2020-01-01T00:00:00Z")))
        // Written with four digits of the year, unlike the other.
        #expect(ada.notAfter == (try ProfileFixture.date("2069-12-31T23:59:59Z")))
        #expect(ada.der.starts(with: [0x30, 0x82]))
    }

    @Test func theSignersCertificatesComeAlong() throws {
        let names = try ProfileFixture.profile("development.mobileprovision").signers.map(\.commonName)
        #expect(Set(names) == ["Example Profile Signing", "Example Device Authority", "Example Root CA"])
    }

    @Test(arguments: [
        ("development.mobileprovision", ProfileKind.development), ("ad-hoc.mobileprovision", .adHoc),
        ("app-store.mobileprovision", .appStore), ("enterprise.mobileprovision", .enterprise),
        ("mac.provisionprofile", .development), ("developer-id.provisionprofile", .developerID),
    ])
    func theKindFollowsFromDevicesAndDebugging(_ name: String, _ kind: ProfileKind) throws {
        #expect(try ProfileFixture.profile(name).kind == kind)
    }

    @Test func aMacProfileHasTheMacsKeys() throws {
        let profile = try ProfileFixture.profile("mac.provisionprofile")
        #expect(profile.applicationIdentifier == "ABCDE12345.com.example.app")
        #expect(profile.isXcodeManaged)
        #expect(profile.entitlements.applicationGroups == ["group.com.example.app", "ABCDE12345.*"])
    }

    /// A streaming signer leaves lengths open and writes the contents in pieces.
    @Test(arguments: [
        "ber", "sha1", "sha512", "curve", "key-identifier", "no-attributes", "strangers", "developer", "rootless",
        "two",
    ])
    func howItIsSignedDoesNotChangeWhatItSays(_ name: String) throws {
        let other = try ProfileFixture.profile("\(name).mobileprovision")
        let plain = try ProfileFixture.profile("development.mobileprovision")
        #expect(other.entitlements == plain.entitlements)
        #expect(other.certificates == plain.certificates)
        #expect(other.expires == plain.expires)
    }

    @Test(arguments: [PropertyListFormat.xml, .binary]) func theLeastProfileIsRead(_ format: PropertyListFormat) throws
    {
        let profile = try ProvisioningProfile(parsing: ProfileForge.profile(as: format))
        #expect(profile.name == "Example")
        #expect(profile.teamIdentifiers.isEmpty)
        #expect(profile.applicationIdentifier == nil)
        #expect(profile.kind == .appStore)
        #expect(profile.timeToLive == nil)
        #expect(profile.certificates.isEmpty)
    }

    @Test(arguments: ProfileForge.least.keys.sorted()) func aMissingKeyIsNamed(_ key: String) throws {
        let bytes = try ProfileForge.profile([key: PropertyListValue?.none])
        let error = #expect(throws: ProvisioningError.self) { try ProvisioningProfile(parsing: bytes) }
        #expect(error?.code == .missingValue)
        #expect(error?.subject == key)
    }

    @Test(arguments: [
        "Name", "UUID", "CreationDate", "ExpirationDate", "Entitlements", "AppIDName", "ApplicationIdentifierPrefix",
        "TeamIdentifier", "TeamName", "Platform", "TimeToLive", "ProvisionedDevices", "ProvisionsAllDevices",
        "IsXcodeManaged", "DeveloperCertificates", "Version",
    ])
    func aValueOfAnotherTypeIsRefused(_ key: String) throws {
        for value: PropertyListValue in [.real(1.5), .array([.real(1)])] {
            let bytes = try ProfileForge.profile([key: value])
            let error = #expect(throws: ProvisioningError.self) { try ProvisioningProfile(parsing: bytes) }
            #expect(error?.code == .wrongType)
            #expect(error?.subject == key)
        }
    }

    @Test func entitlementsOfAnotherTypeAreRefused() throws {
        let entitlements = PropertyListValue.dictionary([
            "com.apple.security.application-groups": .string("group.com.example.app")
        ])
        let bytes = try ProfileForge.profile(["Entitlements": entitlements])
        #expect(provisioningFault { _ = try ProvisioningProfile(parsing: bytes) } == .wrongType)
    }

    @Test func anotherVersionIsNotGuessedAt() throws {
        let bytes = try ProfileFixture.bytes("version-2.mobileprovision")
        #expect(provisioningFault { _ = try ProvisioningProfile(parsing: bytes) } == .unsupportedVersion)
    }

    @Test(
        arguments: [
            [], [0x00], Array("not a certificate".utf8), [0x30, 0x00], [0x30, 0x84, 0x40, 0x00, 0x00, 0x00],
        ] as [[UInt8]])
    func anInvalidCertificateIsRefused(_ der: [UInt8]) throws {
        let bytes = try ProfileForge.profile(["DeveloperCertificates": .array([.data(der)])])
        #expect(provisioningFault { _ = try ProvisioningProfile(parsing: bytes) } == .malformedCertificate)
    }

    /// In a binary list each is one byte or two more.
    @Test func oneCertificateAThousandTimesIsEnough() throws {
        let der = try #require(try ProfileFixture.profile("development.mobileprovision").certificates.last).der
        let many = PropertyListValue.array([PropertyListValue](repeating: .data(der), count: 1001))
        let bytes = try ProfileForge.profile(["DeveloperCertificates": many], as: .binary)
        #expect(bytes.count < 8000)
        #expect(provisioningFault { _ = try ProvisioningProfile(parsing: bytes) } == .tooLarge)
    }

    @Test func everyCutOfACertificateIsRefused() throws {
        let der = try #require(try ProfileFixture.profile("development.mobileprovision").certificates.last).der
        for count in 0..<der.count {
            #expect(
                provisioningFault { _ = try CertificateReader.certificate(der.prefix(count), at: "cut") }
                    == .malformedCertificate)
        }
    }

    @Test(arguments: [
        "{Name = Example;}", "", "<?xml version=\"1.0\"?><plist version=\"1.0\"><array/></plist>", "<plist>",
    ])
    func whatIsSignedHasToBeADictionary(_ content: String) {
        let bytes = ProfileForge.message(Array(content.utf8))
        #expect(provisioningFault { _ = try ProvisioningProfile(parsing: bytes) } == .malformedList)
    }
}
