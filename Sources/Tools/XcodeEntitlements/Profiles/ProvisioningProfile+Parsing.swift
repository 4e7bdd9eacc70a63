internal import AppGroups
internal import PropertyLists
internal import SharedFiles

extension ProvisioningProfile {
    /// The largest file that is read, in bytes.
    public static let largest = 4 << 20

    /// Parses a profile.
    ///
    /// - Parameter trust: The trusted signers, used only in a build with the package trait `ProfileSignatures`.
    /// - Throws: ``ProvisioningError``. An invalid signature is not an error; see ``signature``.
    public init(parsing bytes: [UInt8], trusting trust: ProfileTrust = .apple) throws(ProvisioningError) {
        guard bytes.count <= Self.largest else { throw .tooLarge("profile", "it has more than \(Self.largest) bytes") }
        let message = try SignedMessage(parsing: bytes)
        var signers: [ProfileCertificate] = []
        for (index, der) in message.certificates.enumerated() {
            signers.append(try CertificateReader.certificate(der, at: "certificate \(index + 1) of the signature"))
        }
        try self.init(try ProfileList(parsing: message.content), signers: signers) { created in
            ProfileSignature(of: message, signedAt: created, trusting: trust)
        }
    }

    /// Reads a profile from a regular file of at most 4 MiB; links are followed.
    ///
    /// - Throws: ``ProvisioningError``: `file`, `tooLarge`, and what ``init(parsing:trusting:)`` throws.
    public static func read(
        path: String, trusting trust: ProfileTrust = .apple
    ) throws(ProvisioningError) -> ProvisioningProfile {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try ProjectFiles.read(path, limit: largest)
        } catch {
            throw .unreadable(error)
        }
        do throws(ProvisioningError) {
            return try ProvisioningProfile(parsing: bytes, trusting: trust)
        } catch {
            throw error.reading(path)
        }
    }

    private init(
        _ list: ProfileList, signers: [ProfileCertificate], signature: (PropertyListDate) -> ProfileSignature
    ) throws(ProvisioningError) {
        if let version = try list.optionalInteger("Version"), version != 1 { throw .unsupportedVersion(version) }
        name = try list.string("Name")
        uuid = try list.string("UUID")
        applicationIdentifierName = try list.optionalString("AppIDName")
        applicationIdentifierPrefixes = try list.optionalStrings("ApplicationIdentifierPrefix") ?? []
        teamIdentifiers = try list.optionalStrings("TeamIdentifier") ?? []
        teamName = try list.optionalString("TeamName")
        platforms = try list.optionalStrings("Platform") ?? []
        created = try list.date("CreationDate")
        expires = try list.date("ExpirationDate")
        timeToLive = try list.optionalInteger("TimeToLive").flatMap { Int(exactly: $0) }
        provisionedDeviceCount = try list.optionalStrings("ProvisionedDevices")?.count
        provisionsAllDevices = try list.flag("ProvisionsAllDevices")
        isXcodeManaged = try list.flag("IsXcodeManaged")
        (entitlements, allowsDebugging) = try Self.entitlements(try list.dictionary("Entitlements"))
        certificates = try Self.certificates(try list.datas("DeveloperCertificates"))
        self.signers = signers
        self.signature = signature(created)
    }

    private static func entitlements(
        _ list: PropertyListValue
    ) throws(ProvisioningError) -> (EntitlementsDocument, allowsDebugging: Bool) {
        do throws(AppGroupError) {
            let flags = ["get-task-allow", "com.apple.security.get-task-allow"]
            return (try EntitlementsDocument(list), flags.contains { list[$0]?.bool == true })
        } catch {
            throw .malformedEntitlements(error)
        }
    }

    private static let mostCertificates = 1000

    private static func certificates(_ datas: [[UInt8]]) throws(ProvisioningError) -> [ProfileCertificate] {
        // A binary list can refer to one certificate many thousand times, each of which would be parsed.
        guard datas.count <= mostCertificates else {
            throw .tooLarge("DeveloperCertificates", "it has more than \(mostCertificates) certificates")
        }
        var certificates: [ProfileCertificate] = []
        for (index, der) in datas.enumerated() {
            certificates.append(try CertificateReader.certificate(der[...], at: "developer certificate \(index + 1)"))
        }
        return certificates
    }
}
