public import CryptoPrimitives
public import FoundationEssentials

/// A type whose instances can be values of items: `String`, `[UInt8]`, `Data` and `SecretBytes`.
///
/// Only `SecretBytes` is guarded memory that is wiped at the end. The memory of the other types is ordinary: it can be
/// swapped out, stays in core files, and keeps the value until something else overwrites it. Use them for values that
/// the program has in such memory anyway.
public protocol ItemValueConvertible: ~Copyable, Sendable {
    /// Creates an instance with a copy of an item's value, or returns `nil` if the type cannot represent the value.
    ///
    /// - Parameter bytes: The value. The pointer must not outlive the call.
    init?(itemValue bytes: UnsafeRawBufferPointer)

    /// Lends the bytes of the item's value for the length of the call.
    borrowing func withItemValue<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

extension String: ItemValueConvertible {
    /// Creates a text; `nil` for a value that is not UTF-8.
    public init?(itemValue bytes: UnsafeRawBufferPointer) { self.init(validating: bytes, as: UTF8.self) }

    /// Lends the text as UTF-8.
    public func withItemValue<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try utf8.span.withUnsafeBytes(body)
    }
}

extension [UInt8]: ItemValueConvertible {
    /// Creates an array of any value.
    public init?(itemValue bytes: UnsafeRawBufferPointer) { self.init(bytes) }

    /// Lends the bytes.
    public func withItemValue<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.withUnsafeBytes(body)
    }
}

extension Data: ItemValueConvertible {
    /// Creates data of any value.
    public init?(itemValue bytes: UnsafeRawBufferPointer) { self.init(bytes) }

    /// Lends the bytes.
    public func withItemValue<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.withUnsafeBytes(body)
    }
}

extension SecretBytes: ItemValueConvertible {
    /// Creates secret bytes of any value.
    public init?(itemValue bytes: UnsafeRawBufferPointer) { self.init(copying: bytes) }

    /// Lends the bytes.
    public borrowing func withItemValue<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes(body)
    }
}

extension Vault {
    /// Adds an item whose value is a `String`, `[UInt8]`, `Data` or `SecretBytes`.
    ///
    /// The value is sealed and copied into the vault. The caller's instance stays as it is: only `SecretBytes` wipes
    /// its memory.
    /// - Throws: `VaultError` as for the form with a pointer.
    public func addItem<Value: ItemValueConvertible & ~Copyable>(
        service: String, account: String, label: String = "", accessibility: Accessibility? = nil,
        value: borrowing Value
    ) throws(VaultError) {
        try value.withItemValue { bytes throws(VaultError) in
            try addItem(service: service, account: account, label: label, accessibility: accessibility, value: bytes)
        }
    }

    /// Replaces an item's value by a `String`, `[UInt8]`, `Data` or `SecretBytes`, and the given properties.
    ///
    /// - Throws: `VaultError` as for the form with a pointer.
    public func updateItem<Value: ItemValueConvertible & ~Copyable>(
        service: String, account: String, label: String? = nil, accessibility: Accessibility? = nil,
        value: borrowing Value
    ) throws(VaultError) {
        try value.withItemValue { bytes throws(VaultError) in
            try updateItem(service: service, account: account, label: label, accessibility: accessibility, value: bytes)
        }
    }

    /// Copies an item's value into memory of another type, which is not wiped.
    ///
    /// A `String`, `[UInt8]` or `Data` stays readable in the process's memory after its last use. `withValue` lends the
    /// value without a copy, and `copyValue(service:account:)` copies it into secret memory.
    /// - Parameters:
    ///   - service: The item's service.
    ///   - account: The item's account.
    ///   - type: The type of the copy.
    /// - Throws: `VaultError` as `withValue`; `.invalidArgument` if the type cannot represent the value, such as a
    ///   `String` for bytes that are not UTF-8.
    public func copyValue<Value: ItemValueConvertible>(
        service: String, account: String, as type: Value.Type
    ) throws(VaultError) -> Value {
        try withValue(service: service, account: account) { bytes throws(VaultError) -> Value in
            guard let copy = Value(itemValue: bytes) else {
                throw VaultError(
                    .invalidArgument, "copy the value of an item of", path, "The value is not a valid \(Value.self).",
                    advice: "Copy it as [UInt8], or read it with withValue.")
            }
            return copy
        }
    }
}
