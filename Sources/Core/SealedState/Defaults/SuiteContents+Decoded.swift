internal import Synchronization

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
