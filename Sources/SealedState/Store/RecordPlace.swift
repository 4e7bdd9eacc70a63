internal import Sealing
internal import SharedFiles
internal import Synchronization

/// Everything about a record's name that takes hashing to know.
struct RecordPlace: Sendable {
    let name: RecordName
    let context: BlobContext
    let address: BlobAddress

    init(_ name: RecordName, group: String) {
        self.name = name
        context = BlobContext(group: group, kind: .record, name: name.text)
        let slot = context.nameTag.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        address = BlobAddress(name: name, lock: LockRange(slot: UInt64(littleEndian: slot)))
    }
}

/// Remembers places by name, so that a read of a known record hashes nothing.
final class RecordPlaces: Sendable {
    /// A bound against callers that make up names: beyond it the memory starts anew.
    private static let capacity = 1024

    private let group: String
    private let places = Mutex<[String: RecordPlace]>([:])

    init(group: String) { self.group = group }

    /// - Throws: `StoreError` `.invalidName`.
    func place(_ name: String) throws(StoreError) -> RecordPlace {
        // To Swift, strings of other bytes can be equal (U+212A and K). Names are ASCII, whose equals are all longer in
        // bytes: equal and as long means the same bytes.
        if let known = places.withLock({ $0[name] }), known.name.text.utf8.count == name.utf8.count { return known }
        let place = RecordPlace(try RecordName(name), group: group)
        places.withLock { places in
            if places.count >= Self.capacity { places.removeAll() }
            places[name] = place
        }
        return place
    }
}
