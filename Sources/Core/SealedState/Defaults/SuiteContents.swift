internal import FoundationEssentials
internal import KeyVault
internal import PropertyLists
internal import Sealing
internal import Synchronization

/// What a suite's file says, for as long as it is the one under the suite's name.
final class SuiteContents: Sendable {
    let values: [String: PropertyListValue]
    /// The file that says it; nil where there is none, or where it is not known for certain: then it is good for one answer.
    private let held: (any HeldBlob)?
    private let name: NameTag
    private let epoch: UInt32
    private let sequence: UInt64
    /// When it was sealed, in milliseconds since 1970; 0 where there is nothing.
    let sealedAt: UInt64
    /// Values that were made of what is here; see `SuiteContents+Decoded`.
    let decoded = Mutex<[DecodedKey: any Sendable]>([:])

    /// What an authentic blob holds, or a deletion, which holds nothing.
    init(_ values: [String: PropertyListValue], _ header: BlobHeader, held: (any HeldBlob)?) {
        self.values = values
        self.held = held
        name = header.nameTag
        epoch = header.epoch
        sequence = header.sequence
        sealedAt = header.sealedAt
    }

    /// A suite that was never written.
    init(absent name: NameTag) {
        values = [:]
        held = nil
        self.name = name
        epoch = 0
        sequence = 0
        sealedAt = 0
    }

    /// Whether a read of this moment would answer the same.
    ///
    /// The accepted state is asked as well: another reader of this process may have accepted a newer one, which nobody may
    /// go behind, whatever file was put back since.
    func isCurrent(_ watermarks: WatermarkTable) -> Bool {
        guard let held, held.isInPlace, let mark = watermarks.mark(of: name) else { return false }
        return mark.sequence == sequence && mark.epoch == epoch
    }

    /// Whether it is of the present: a clock that was set back refuses here what it refuses in every other process.
    func hasBegun(_ options: StoreOptions) -> Bool {
        Double(sealedAt) <= (options.now().timeIntervalSince1970 + options.clockSkew.seconds) * 1000
    }
}

/// A key, and the type that its value was made into.
struct DecodedKey: Hashable {
    let name: String
    let type: ObjectIdentifier
}

/// Values of types that take long to make, kept for as long as the suite's file says the same.
extension SuiteContents {
    /// The value of a key: made once, and given out again from then on.
    func decoded<Value: Sendable>(
        _ name: String, _ make: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        // What is made at once is not worth a look.
        guard !Self.isSimple(Value.self) else { return try make() }
        let key = DecodedKey(name: name, type: ObjectIdentifier(Value.self))
        // In two steps: nothing at all can be cast to an optional.
        if let known = decoded.withLock({ $0[key] }), let known = known as? Value { return known }
        let value = try make()
        decoded.withLock { $0[key] = value }
        return value
    }

    private static func isSimple(_ type: Any.Type) -> Bool {
        type == String.self || type == Bool.self || type == Int.self || type == Double.self
    }
}
