package import AppGroups
internal import CryptoPrimitives
internal import Glibc
package import SharedFiles
package import SystemPackage

/// Where the vault of an access group and its key file lie.
package struct VaultPlace: Sendable, Hashable {
    package static let leaf = "vault"
    /// The leaves of both compartments.
    package static let leaves = ["vault", "vault.person"]
    static let lockLeaf = ".lock"
    /// Begins the names of the reserves for deletions, one for each user; the user's number ends it.
    static let reservePrefix = ".reserve."
    /// Reserves grow in steps, so that a vault that grows does not allocate at each change.
    static let reserveStep: Int64 = 16 << 10

    package let accessGroup: AccessGroup
    let home: GroupsHome
    package let directoryPath: FilePath
    let keysPath: FilePath
    let watermarksPath: FilePath
    let memory: PlaceMemoryFile
    /// The memory at the place that was not chosen.
    private let otherMemory: PlaceMemoryFile?
    /// The team key that the program states.
    let teamKey: TeamPublicKey?

    package init(_ accessGroup: AccessGroup, in home: GroupsHome, teamKey: TeamPublicKey? = nil) {
        self.accessGroup = accessGroup
        self.teamKey = teamKey
        self.home = home
        directoryPath = home.vaultPath ?? home.vaultsPath.appending(accessGroup.identifier)
        keysPath = home.keysPath
        let directory = directoryPath
        func memory(beside watermarks: FilePath) -> PlaceMemoryFile {
            PlaceMemoryFile(
                directory: watermarks.removingLastComponent().appending("Places"), vault: directory,
                accessGroup: accessGroup)
        }
        // A memory counts at either place: neither a changed mode nor a user namespace makes it a first contact.
        let usual = memory(beside: home.watermarksPath)
        let other = home.otherWatermarksPath.map { (path: $0, memory: memory(beside: $0)) }
        if let other, !usual.isThere, other.memory.isThere {
            (watermarksPath, self.memory, otherMemory) = (other.path, other.memory, usual)
        } else {
            (watermarksPath, self.memory, otherMemory) = (home.watermarksPath, usual, other?.memory)
        }
    }

    /// Whether anything has the vault's name, also a link to nothing.
    package var isTaken: Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Removes what this user's programs remember of the place, wherever it is.
    func forget() {
        memory.remove()
        otherMemory?.remove()
    }

    /// A compartment's file, for messages.
    func path(of role: CompartmentRole) -> String { directoryPath.appending(role.leaf).string }

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

    /// The states that this user's programs have accepted of this vault's group.
    func watermarks(vaultID: String, key: SecretBytesBox) -> WatermarkTable {
        let leaf = marksLeaf(vaultID: vaultID)
        let name = "\(watermarksPath.appending(leaf)) \(WatermarkLog.identifier(of: key.secret))"
        return WatermarkTable.shared(name) {
            let marker = WatermarkMarker(in: directoryPath, for: watermarksPath.appending(leaf), key: key.secret)
            return WatermarkLog(
                directoryPath: watermarksPath, leaf: leaf, key: key.secret.copied(), marker: marker)
        }
    }

    /// The condition of the file of those states, which is left as it is.
    func watermarkCondition(vaultID: String, key: borrowing SecretBytes) -> WatermarkCondition {
        let leaf = marksLeaf(vaultID: vaultID)
        let marker = WatermarkMarker(in: directoryPath, for: watermarksPath.appending(leaf), key: key)
        let log = WatermarkLog(directoryPath: watermarksPath, leaf: leaf, key: key.copied(), marker: marker)
        return log.load(compacts: false).condition
    }

    /// The file of those states. Another vault of the group has a file of its own.
    func marksLeaf(vaultID: String) -> String { "\(accessGroup.identifier).\(vaultID.prefix(16)).marks" }
}
