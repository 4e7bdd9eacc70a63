internal import CryptoPrimitives
package import FoundationEssentials
package import KeyVault
package import PropertyLists
package import Sealing

/// An encoded record before sealing; `wipe()` ends it.
package final class RecordPayload {
    private var bytes: Data
    package let codec: PayloadCodec
    package let schemaVersion: UInt32
    /// Milliseconds since 1970; 0 means no end.
    package let notAfter: UInt64
    /// The class of its key; nil for the class of the value that it replaces.
    var protection: ProtectionClass?
    /// A person has stated the class of this write: only then does a protected name lose its protection.
    let mayLowerClass: Bool
    private let scan: Scan?

    /// The result of an earlier scan of the bytes.
    package struct Scan: Sendable {
        let limits: StructureLimits
        /// The first limit that is exceeded; nil for none.
        let excess: StructureFault?

        /// - Parameter limits: The limits that the bytes were compared with.
        package init(_ limits: StructureLimits, excess: StructureFault?) {
            self.limits = limits
            self.excess = excess
        }
    }

    /// - Parameters:
    ///   - protection: The class of its key. With nil a value keeps the class of the one that it replaces: a program
    ///     that does not know the record's type must not lower its class.
    ///   - mayLowerClass: Pass `true` if a person has stated the class of this write.
    ///   - scan: An earlier scan of these bytes' structure, so that it is not repeated.
    package init(
        _ bytes: consuming Data, codec: PayloadCodec, schemaVersion: UInt32, notAfter: UInt64,
        protection: ProtectionClass? = .afterFirstUnlock, mayLowerClass: Bool = false, scan: Scan? = nil
    ) {
        self.bytes = bytes
        self.codec = codec
        self.schemaVersion = schemaVersion
        self.notAfter = notAfter
        self.protection = protection
        self.mayLowerClass = mayLowerClass
        self.scan = scan
    }

    /// Returns the first limit that the bytes exceed, or their mismatch with the codec; nil for none.
    func fault(against limits: StructureLimits) -> StructureFault? {
        if let scan, scan.limits == limits { return scan.excess }
        return bytes.withUnsafeBytes { bytes -> StructureFault? in
            do throws(StructureFault) { try PayloadCoding.check(bytes, codec, limits) } catch { return error }
            return nil
        }
    }

    package var count: Int { bytes.count }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes(body)
    }

    /// Overwrites the plaintext; the buffer has no other owner, so no copy is made first.
    package func wipe() {
        bytes.withUnsafeMutableBytes { ScratchMemory.wipe($0) }
    }
}

/// Describes the failed field of decoding or encoding, without the values that were found.
package enum CodingFault {
    package static func describe(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing."
        case DecodingError.typeMismatch(let type, let context): "\(path(context.codingPath)) is not of type \(type)."
        case DecodingError.valueNotFound(let type, let context):
            "\(path(context.codingPath)) has no value of type \(type)."
        case DecodingError.dataCorrupted(let context): "\(path(context.codingPath)) is not valid."
        case EncodingError.invalidValue(_, let context): "\(path(context.codingPath)) cannot be encoded."
        default: "It does not match the type."
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.isEmpty ? "The record" : keys.map(name).joined(separator: ".")
    }

    /// Returns the key's name if it is a case of an enum, which is a field of the type; every other key is data, such
    /// as a dictionary's.
    private static func name(_ key: any CodingKey) -> String {
        if let index = key.intValue { return "[\(index)]" }
        let mirror = Mirror(reflecting: key)
        return mirror.displayStyle == .enum && mirror.children.isEmpty ? key.stringValue : "[…]"
    }
}

extension StoreOptions {
    /// The limits for a payload's structure.
    package var structureLimits: StructureLimits {
        StructureLimits(depth: maximumDepth, values: maximumValues, size: maximumRecordSize)
    }
}

extension StructureFault {
    /// The store's code: data that is no property list at all is not dangerous, it does not decode.
    package var code: StoreError.Code {
        switch self {
        case .malformed, .unsupported: .undecodable
        default: .unsafeStructure
        }
    }

    /// The advice for a writer.
    var writingAdvice: String {
        switch self {
        case .tooDeep: "Nest the value less; the old value remains."
        case .tooManyValues, .tooMuchContent: "Write less in one record; the old value remains."
        case .longKey: "Use shorter keys, and store long texts as values; the old value remains."
        case .stackedMarks: "Correct the text; the old value remains."
        case .cycle, .unsupported, .malformed: "Write a value that the codec can represent; the old value remains."
        }
    }
}

extension Date {
    init(milliseconds: UInt64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// The milliseconds since 1970, rounded down; 1 for everything before, nil for a time that no header can hold.
    package var headerMilliseconds: UInt64? {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded(.down)
        guard milliseconds.isFinite, milliseconds < 9e15 else { return nil }
        return UInt64(max(1, milliseconds))
    }
}
