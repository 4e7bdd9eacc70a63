package import AppGroups
internal import CryptoPrimitives
package import SharedFiles
package import SystemPackage

/// Where the vault of an access group and its key file lie.
package struct VaultPlace: Sendable, Hashable {
    package static let leaf = "vault"
    static let lockLeaf = ".lock"

    package let accessGroup: AccessGroup
    let home: GroupsHome
    package let directoryPath: FilePath
    let keysPath: FilePath
    let watermarksPath: FilePath

    package init(_ accessGroup: AccessGroup, in home: GroupsHome) {
        self.accessGroup = accessGroup
        self.home = home
        directoryPath = home.vaultPath ?? home.vaultsPath.appending(accessGroup.identifier)
        keysPath = home.keysPath
        watermarksPath = home.watermarksPath
    }

    /// The vault file, for messages.
    package var path: String { directoryPath.appending(Self.leaf).string }
    var keyFileLeaf: String { accessGroup.identifier + ".key" }
    /// The default key file.
    package var keyFilePath: String { keysPath.appending(keyFileLeaf).string }

    /// The vault's directory, checked; nil when there is none.
    ///
    /// - Throws: `VaultError` `.unsafeFile`, `.denied` or `.file`.
    func openDirectory() throws(VaultError) -> Directory? {
        do throws(FileError) {
            return try trusted(Directory.open(directoryPath))
        } catch {
            if error.code == .notFound { return nil }
            throw VaultError(error, "open the vault")
        }
    }

    /// The vault's directory, made when it is missing.
    func makeDirectory(sharing: Sharing) throws(FileError) -> Directory {
        try trusted(Directory.create(directoryPath, sharing: sharing))
    }

    /// The directory of key files, made when it is missing.
    func makeKeysDirectory() throws(FileError) -> Directory {
        let directory = try Directory.createOwn(keysPath)
        try directory.requireSafeAncestors()
        return directory
    }

    private func trusted(_ directory: Directory) throws(FileError) -> Directory {
        try directory.requireTrusted()
        return directory
    }

    /// The lock that every change of the vault is made under.
    package func lockFile(in directory: Directory) -> LockFile {
        LockFile(directory: directory, name: Self.lockLeaf, mode: directory.fileMode)
    }

    /// What this user's programs have accepted of this vault's group.
    func watermarks(of header: VaultHeader, root: borrowing SecretBytes) -> WatermarkTable {
        let leaf = marksLeaf(of: header)
        let key = root.derived(.watermarkKey)
        let name = "\(watermarksPath.appending(leaf)) \(WatermarkLog.identifier(of: key))"
        return WatermarkTable.shared(name) {
            let marker = WatermarkMarker(in: directoryPath, for: watermarksPath.appending(leaf), key: key)
            return WatermarkLog(directoryPath: watermarksPath, leaf: leaf, key: key.copied(), marker: marker)
        }
    }

    /// What is known of the file of those notes, which is left as it is.
    func watermarkCondition(of header: VaultHeader, root: borrowing SecretBytes) -> WatermarkCondition {
        let leaf = marksLeaf(of: header)
        let key = root.derived(.watermarkKey)
        let marker = WatermarkMarker(in: directoryPath, for: watermarksPath.appending(leaf), key: key)
        let log = WatermarkLog(directoryPath: watermarksPath, leaf: leaf, key: key, marker: marker)
        return log.load(compacts: false).condition
    }

    /// The file of those notes. A new vault has a new root: it could not read the old file, and has no use for it.
    func marksLeaf(of header: VaultHeader) -> String {
        "\(accessGroup.identifier).\(header.vaultIDText.prefix(16)).marks"
    }
}
