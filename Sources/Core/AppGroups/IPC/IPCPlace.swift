internal import Glibc
package import SharedFiles

/// A container's directory of records of semaphores and shared memory, checked.
package struct IPCPlace: Sendable {
    /// The time limit for the lock of creation and removal.
    package static let lockLimit = Duration.seconds(10)
    package static let lockName = ".lock"

    let name: GroupIPCName
    let suffix: String
    let directory: Directory
    let sharing: Sharing
    /// The user that owns the container.
    let owner: UInt32

    var fileName: String { name.name + suffix }

    /// - Throws: `AppGroupError` with `ipcMissing` if the directory is missing and is not to be created; otherwise the
    ///   errors of opening the container.
    init(
        _ name: GroupIPCName, _ suffix: String, in container: GroupContainer, creating: Bool
    ) throws(AppGroupError) {
        self.name = name
        self.suffix = suffix
        sharing = container.sharing
        do throws(FileError) {
            directory = try Self.directory(ContainerLayout.ipc, in: container, creating: creating)
            owner = try container.root.attributes(".").uid
        } catch {
            if !creating && error.code == .notFound { throw Self.missing(name, suffix) }
            throw AppGroupError(error, openingContainerOf: container.group)
        }
    }

    package static func directory(
        _ path: String, in container: GroupContainer, creating: Bool
    ) throws(FileError) -> Directory {
        let directory =
            creating
            ? try container.root.makeDirectory(path, sharing: container.sharing) : try container.root.directory(path)
        try directory.requireSharing(container.sharing)
        return directory
    }

    static func missing(_ name: GroupIPCName, _ suffix: String) -> AppGroupError {
        .ipc(
            .ipcMissing, "open", name.description + suffix, "no program has created it since the machine started",
            "Open it with creation, or start the program that creates it.")
    }

    /// Runs a body under the lock for creation, removal and writing.
    package func locked<Result>(
        _ operation: String, _ timeout: Duration = lockLimit, isCancelled: (() -> Bool)? = nil,
        _ body: () throws(AppGroupError) -> Result
    ) throws(AppGroupError) -> Result {
        let lock: HeldLock
        do throws(FileError) {
            lock = try LockFile(directory: directory, name: Self.lockName, mode: sharing.fileMode)
                .acquire(LockRange(slot: slot), .exclusive, timeout: timeout, isCancelled: isCancelled)
        } catch {
            throw AppGroupError(error, operation, ipc: name)
        }
        let result = try body()
        lock.unlock()
        return result
    }

    private var slot: UInt64 { Self.hash(fileName) }

    /// The tag of the record's group and name.
    var tag: UInt64 { Self.hash("\(name.group)/\(fileName)") }

    /// FNV-1a: the same in every process.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

extension IPCPlace {
    /// Returns the record; nil if it is missing.
    ///
    /// - Throws: `AppGroupError` with `ipcDamaged` for an invalid record. It stays, since its object may be in use.
    func record() throws(AppGroupError) -> ExistingRecord? {
        let (facts, bytes): (FileAttributes, [UInt8])
        do throws(FileError) {
            (facts, bytes) = try content()
        } catch {
            switch error.code {
            case .notFound: return nil
            case .notRegularFile, .unsafePath, .notDirectory: throw damaged("it is not a file", error)
            default: throw AppGroupError(error, "open", ipc: name)
            }
        }
        let isKnown = [geteuid(), 0, owner].contains(facts.uid) || sharing == .unixGroup(facts.gid)
        guard facts.nlink <= 1, isKnown else { throw damaged("it has a second name or belongs to another user") }
        guard let record = IPCRecord(bytes), record.kind.suffix == suffix else {
            throw damaged("it is not a record of that kind")
        }
        guard record.tag == tag else { throw damaged("it is the record of another name") }
        return ExistingRecord(record: record, maker: facts.uid)
    }

    /// Returns the file's attributes and bytes, at most one byte more than a record has.
    private func content() throws(FileError) -> (FileAttributes, [UInt8]) {
        let file = try directory.openForReading(fileName)
        let bytes = try withUnsafeTemporaryAllocation(byteCount: IPCRecord.size + 1, alignment: 1) {
            (buffer) throws(FileError) in
            [UInt8](buffer[..<(try file.pread(into: buffer, at: 0))])
        }
        return (try file.attributes(), bytes)
    }

    /// Durable, since a power loss could otherwise leave a record that looks damaged.
    ///
    /// - Throws: `AppGroupError`.
    func write(_ record: IPCRecord) throws(AppGroupError) {
        do throws(FileError) {
            try directory.replace(
                fileName, with: record.bytes, mode: sharing.fileMode, group: sharing.groupID, durability: .durable)
        } catch {
            throw AppGroupError(error, "make", ipc: name)
        }
    }

    /// - Throws: `AppGroupError`.
    func removeRecord() throws(AppGroupError) {
        do throws(FileError) { try directory.remove(fileName, durability: .unsynced) } catch {
            if error.code != .notFound { throw AppGroupError(error, "remove", ipc: name) }
        }
    }

    private func damaged(_ reason: String, _ cause: FileError? = nil) -> AppGroupError {
        let path = directory.display(fileName)
        return AppGroupError(
            code: .ipcDamaged, operation: "open", subject: path, reason: reason,
            advice: "Stop the programs that use it, see what it is, and remove it: ls -l \(path.shellQuoted)",
            underlying: cause)
    }
}

/// A record in the container.
struct ExistingRecord: Sendable {
    let record: IPCRecord
    /// The file's owner: the user who wrote the record, and the only one who creates its object.
    let maker: UInt32
}
