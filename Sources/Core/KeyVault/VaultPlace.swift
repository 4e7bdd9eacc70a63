package import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import Sealing
package import SharedFiles
package import SystemPackage

/// The paths of an access group's vault and of its key file.
package struct VaultPlace: Sendable, Hashable {
    package static let leaf = "vault"
    /// The leaves of both compartments.
    package static let leaves = ["vault", "vault.person"]
    static let lockLeaf = ".lock"
    /// The prefix of the reserves for deletions, one for each user; the user's number follows.
    static let reservePrefix = ".reserve."
    /// The step in which reserves grow, so that a growing vault does not allocate at each change.
    static let reserveStep: Int64 = 16 << 10

    package let accessGroup: AccessGroup
    let home: GroupsHome
    package let directoryPath: FilePath
    let keysPath: FilePath
    let watermarksPath: FilePath
    /// The other directory with possible watermarks of this user, if any. Its watermarks count as well.
    private let otherWatermarksPath: FilePath?
    let memory: PlaceMemoryFile
    /// The team key that the program states.
    let teamKey: TeamPublicKey?

    package init(_ accessGroup: AccessGroup, in home: GroupsHome, teamKey: TeamPublicKey? = nil) {
        self.accessGroup = accessGroup
        self.teamKey = teamKey
        self.home = home
        directoryPath = home.vaultPath ?? home.vaultsPath.appending(accessGroup.identifier)
        keysPath = home.keysPath
        watermarksPath = home.watermarksPath
        otherWatermarksPath = home.otherWatermarksPath
        memory = PlaceMemoryFile(
            directories: home.memoryDirectories("Places"), vault: directoryPath, accessGroup: accessGroup)
    }

    /// `true` if any entry has the vault's name, even a dangling link.
    package var isTaken: Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Returns the path of a compartment's file, for messages.
    func path(of role: CompartmentRole) -> String { directoryPath.appending(role.leaf).string }

    /// The path of the vault file, for messages.
    package var path: String { directoryPath.appending(Self.leaf).string }
    var keyFileLeaf: String { accessGroup.identifier + ".key" }
    /// The default key file.
    package var keyFilePath: String { keysPath.appending(keyFileLeaf).string }

    /// Opens and checks the vault's directory; returns `nil` if it does not exist.
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

    /// Opens the vault's directory, or creates it.
    func makeDirectory(sharing: Sharing) throws(FileError) -> Directory {
        try trusted(Directory.create(directoryPath, sharing: sharing))
    }

    /// Opens the directory of key files, or creates it.
    func makeKeysDirectory() throws(FileError) -> Directory {
        let directory = try Directory.createOwn(keysPath)
        try directory.requireSafeAncestors()
        return directory
    }

    private func trusted(_ directory: Directory) throws(FileError) -> Directory {
        try directory.requireTrusted()
        return directory
    }

    /// Returns the lock for every change of the vault.
    package func lockFile(in directory: Directory) -> LockFile {
        LockFile(directory: directory, name: Self.lockLeaf, mode: directory.fileMode)
    }

    /// Returns the states that this user's programs have accepted of this vault's group.
    func watermarks(vaultID: String, key: SecretBytesBox) -> WatermarkTable {
        let path = watermarksPath.appending(marksLeaf(vaultID: vaultID))
        return WatermarkTable.shared("\(path) \(WatermarkLog.identifier(of: key.secret))") {
            watermarkLog(vaultID: vaultID, key: key.secret)
        }
    }

    /// Returns the last period, after a given one, in which this user's programs have accepted a file of a vault; `nil`
    /// if there is no such period. Unlike the memory of the place, it remains known after damage to that memory.
    ///
    /// A mark from before a restart does not state its period, so the names of the next periods are compared.
    func lastAcceptedPeriod(after period: UInt32, vaultID: [UInt8], key: SecretBytesBox) -> UInt32? {
        guard period < CompartmentHead.maximumPeriod else { return nil }
        let text = vaultID.withUnsafeBytes { $0.hexadecimal }
        let names = Set(watermarks(vaultID: text, key: key).acceptedMarks.map(\.0))
        return (period + 1...period + 1024).last { period in
            [.service, .person].contains {
                names.contains(PartSealing.context(accessGroup.identifier, $0, period: period, .state).nameTag)
            }
        }
    }

    /// Returns the file of those states, with the states of the other directory of memories.
    func watermarkLog(vaultID: String, key: borrowing SecretBytes) -> WatermarkLog {
        let leaf = marksLeaf(vaultID: vaultID)
        func log(_ path: FilePath, _ key: borrowing SecretBytes, other: WatermarkLog?) -> WatermarkLog {
            let marker = WatermarkMarker(in: directoryPath, for: path.appending(leaf), key: key)
            return WatermarkLog(directoryPath: path, leaf: leaf, key: key.copied(), marker: marker, other: other)
        }
        var other: WatermarkLog?
        if let otherWatermarksPath { other = log(otherWatermarksPath, key, other: nil) }
        return log(watermarksPath, key, other: other)
    }

    /// The contents of the file of those states, which is left as it is.
    func watermarkContents(vaultID: String, key: borrowing SecretBytes) -> WatermarkLog.Contents {
        watermarkLog(vaultID: vaultID, key: key).load(compacts: false)
    }

    /// Returns the name of the file of those states. Each vault of the group has its own file.
    func marksLeaf(vaultID: String) -> String { "\(accessGroup.identifier).\(vaultID.prefix(16)).marks" }
}
