internal import CryptoPrimitives
internal import SharedFiles

/// How a new vault gets into its place.
extension VaultCreation {
    func requireNamed(_ lock: borrowing HeldLock) throws(VaultError) {
        guard lock.isStillNamed() else {
            throw VaultError(
                .lockTimeout, Self.making, place.path, "Its lock file was replaced meanwhile.", advice: "Try again.")
        }
    }

    /// The whole file, without a name: a full disk is told here.
    func written(_ new: NewVault, in directory: Directory) throws(VaultError) -> NewFile {
        try VaultError.onFiles(Self.making) { () throws(FileError) in
            let file = try NewFile.create(in: directory, leaf: VaultPlace.leaf, mode: directory.fileMode)
            try file.reserve(Int64(new.file.count))
            try new.file.withRawBytes { bytes throws(FileError) in try file.write(bytes) }
            return file
        }
    }

    func link(
        _ file: consuming NewFile, in directory: Directory, under lock: borrowing HeldLock
    ) throws(VaultError) -> VaultError? {
        try requireNamed(lock)
        return try link(file, in: directory)
    }

    /// Gives the new vault its name. One that came there meanwhile stays, with its access log.
    ///
    /// - Returns: What is to be thrown where the vault is in place and may not outlive a power loss.
    func link(_ file: consuming NewFile, in directory: Directory) throws(VaultError) -> VaultError? {
        // Of a vault that is gone; only that one's key continues their chain.
        let oldLogs = MakingRoom.logs(in: directory)
        var doubt: VaultError?
        do throws(FileError) {
            try file.commit(replacing: false, durability: .durable)
        } catch {
            switch error.code {
            case .alreadyExists: throw alreadyThere
            case .durabilityUnknown:
                doubt = VaultError(
                    error.advising("The vault is there. Check the disk (dmesg), then look whether it still opens."),
                    Self.making)
            default: throw VaultError(error, Self.making)
            }
        }
        // The new vault is there: a log that cannot be moved away shows when it is verified.
        var room = MakingRoom(in: place)
        try? room.setAside(oldLogs, in: directory)
        return doubt
    }

    /// Notes that this user's programs have seen the vault, and how it began. What cannot be noted does not undo it.
    func begin(_ new: NewVault, in directory: Directory, _ event: AccessEvent) {
        // Else whoever opens it with an identity would be told that another one was seen in its place.
        let reader = VaultReader(place: place)
        if let (_, header) = try? reader.contents(of: new.image, root: new.keys.root, keys: new.keys) {
            _ = place.watermarks(of: new.image.head.header, root: new.keys.root).accept(header)
        }
        guard options.accessLog != .off else { return }
        let log = AccessLog(
            directory: directory, mode: directory.fileMode, key: new.keys.root.derived(.accessLogKey))
        for event in [.created, event] { _ = try? log.append(event, generation: 1) }
    }
}
