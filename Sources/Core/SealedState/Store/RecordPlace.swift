package import AppGroups
package import Sealing
package import SharedFiles
internal import Synchronization

/// The values derived from a record's name by hashing.
package struct RecordPlace: Sendable {
    package let name: RecordName
    package let context: BlobContext
    package let address: BlobAddress
    /// The current write has just listed the name: the value of the lower class that it replaces is no downgrade.
    var isBeingRaised = false

    init(_ name: RecordName, group: String) {
        self.name = name
        context = BlobContext(group: group, kind: .record, name: name.text)
        let slot = context.nameTag.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        address = BlobAddress(
            name: name, path: RecordFile.path(of: name), lock: LockRange(slot: UInt64(littleEndian: slot)))
    }
}

/// Remembers places by name, so that a read of a known record hashes nothing.
package final class RecordPlaces: Sendable {
    /// A bound against callers that generate names: at this size the cache is emptied.
    private static let capacity = 1024

    private let group: String
    private let places = Mutex<[String: RecordPlace]>([:])

    init(group: String) { self.group = group }

    /// The place of a user's record.
    ///
    /// - Throws: `StoreError` `.invalidName`.
    package func place(_ name: String) throws(StoreError) -> RecordPlace {
        try place(name) { () throws(StoreError) in try RecordName(name) }
    }

    /// The place of a record of the library's own.
    ///
    /// - Parameter name: The whole name, its reserved first segment included.
    /// - Throws: `StoreError` `.invalidName`.
    package func place(reserved name: String) throws(StoreError) -> RecordPlace {
        try place(name) { () throws(StoreError) in try RecordName(reserved: name) }
    }

    /// Returns the place of the record that a file's name denotes.
    ///
    /// - Throws: `StoreError` `.invalidName`.
    func place(stored name: String) throws(StoreError) -> RecordPlace {
        try place(name) { () throws(StoreError) in try RecordName(stored: name) }
    }

    private func place(
        _ name: String, _ check: () throws(StoreError) -> RecordName
    ) throws(StoreError) -> RecordPlace {
        // Swift compares strings by canonical equivalence, so strings of other bytes can be equal (U+212A and K). Names
        // are ASCII, whose equivalents are all longer in bytes: equal strings of equal length have the same bytes.
        if let known = places.withLock({ $0[name] }), known.name.text.utf8.count == name.utf8.count { return known }
        let place = RecordPlace(try check(), group: group)
        // Only users' names are cached: a cached name is not checked again.
        if place.name.isReserved { return place }
        places.withLock { places in
            if places.count >= Self.capacity { places.removeAll() }
            places[name] = place
        }
        return place
    }
}

/// The lock that every writer of a record takes, for code that maintains the files beside it.
package enum RecordLock {
    /// Takes the lock of the record whose file has this path.
    ///
    /// - Parameter path: Relative to the container.
    /// - Throws: `FileError` `.lockTimeout`, and the errors of taking the lock.
    /// - Returns: nil for a path that no record's file can have.
    package static func acquire(
        forFile path: String, of group: AppGroup, in container: GroupContainer, timeout: Duration
    ) throws(FileError) -> HeldLock? {
        guard let name = RecordFile.name(of: path) else { return nil }
        let place = RecordPlace(name, group: group.identifier)
        return try LockFile(
            directory: container.root, name: ContainerLayout.lockFile, mode: container.sharing.fileMode
        ).acquire(place.address.lock, .exclusive, timeout: timeout)
    }
}
