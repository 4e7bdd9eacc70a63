package import AppGroups
internal import SharedFiles
internal import SystemPackage

/// Where the vault of an access group and its key file lie.
package struct VaultPlace: Sendable, Hashable {
    package static let leaf = "vault"
    static let lockLeaf = ".lock"
    /// How long a writer waits for another one.
    static let lockTimeout = Duration.seconds(10)

    package let accessGroup: AccessGroup
    let directoryPath: FilePath
    let keysPath: FilePath

    package init(_ accessGroup: AccessGroup, in home: GroupsHome) {
        self.accessGroup = accessGroup
        directoryPath = home.vaultsPath.appending(accessGroup.identifier)
        keysPath = home.keysPath
    }

    /// The vault file, for messages.
    package var path: String { directoryPath.appending(Self.leaf).string }
    var keyFileLeaf: String { accessGroup.identifier + ".key" }
    /// The default key file.
    package var keyFilePath: String { keysPath.appending(keyFileLeaf).string }

    /// The vault's directory, checked; `.notFound` when there is none.
    func openDirectory() throws(FileError) -> Directory {
        try trusted(Directory.open(directoryPath))
    }

    /// The vault's directory, made when it is missing.
    func makeDirectory() throws(FileError) -> Directory {
        try trusted(Directory.create(directoryPath, mode: 0o700))
    }

    /// The directory of key files, made when it is missing.
    func makeKeysDirectory() throws(FileError) -> Directory {
        try trusted(Directory.create(keysPath, mode: 0o700))
    }

    private func trusted(_ directory: Directory) throws(FileError) -> Directory {
        try directory.requirePrivate(allowGroup: false)
        try directory.requireSafeAncestors()
        return directory
    }

    /// The vault file's bytes; nil when there is no vault.
    ///
    /// - Throws: `VaultError` `.unsafeFile` where others may write or read it, `.corrupt` for one larger than any vault.
    func read() throws(VaultError) -> [UInt8]? {
        do throws(FileError) {
            let directory = try openDirectory()
            let attributes = try directory.attributes(Self.leaf)
            // Read rights of others are refused as well: a copy of the slots is all that guessing needs.
            guard attributes.kind != .regular || attributes.mode & 0o027 == 0 else {
                throw FileError(
                    .unsafeMode, operation: "open the vault", path: path,
                    advice: "Take the others' rights away: chmod 600 \(path.shellQuoted)")
            }
            return try directory.read(Self.leaf, limit: VaultFile.maximumSize)
        } catch {
            switch error.code {
            case .notFound: return nil
            case .tooLarge: throw VaultError.corrupt(path, "It is larger than any vault.")
            default: throw VaultError(error, "open the vault")
            }
        }
    }
}
