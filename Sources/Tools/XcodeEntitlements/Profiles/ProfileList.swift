internal import AppGroups
internal import PropertyLists

/// The property list of a profile, with typed access by key.
struct ProfileList {
    private let values: [String: PropertyListValue]

    /// The limits, sufficient for a team of a thousand with ten thousand devices.
    private static let limits = StructureLimits(depth: 16, values: 20_000, size: 4 << 20)

    init(parsing bytes: ArraySlice<UInt8>) throws(ProvisioningError) {
        let read = bytes.withUnsafeBytes { bytes in
            Result { () throws(StructureFault) in try Self.value(bytes) }
        }
        guard case .dictionary(let values) = try read.mapError(ProvisioningError.malformedList).get() else {
            throw .malformedList("its top level is not a dictionary")
        }
        self.values = values
    }

    private static func value(_ bytes: UnsafeRawBufferPointer) throws(StructureFault) -> PropertyListValue {
        // Apple signs XML. The OpenStep format is rejected, because it would accept nearly any text.
        guard let format = PropertyList.format(of: bytes), format != .openStep else {
            throw .malformed("it is neither XML nor binary")
        }
        return try PropertyList.parse(bytes, limits: limits).value
    }

    func optionalString(_ key: String) throws(ProvisioningError) -> String? {
        try optional(key, "a string", \.string)
    }

    func string(_ key: String) throws(ProvisioningError) -> String {
        guard let text = try optionalString(key) else { throw .missing(key) }
        return text
    }

    func date(_ key: String) throws(ProvisioningError) -> PropertyListDate {
        guard let date = try optional(key, "a date", \.date) else { throw .missing(key) }
        return date
    }

    func optionalInteger(_ key: String) throws(ProvisioningError) -> Int64? {
        try optional(key, "an integer", \.integer)
    }

    /// Returns a flag, or `false` if the key is missing.
    func flag(_ key: String) throws(ProvisioningError) -> Bool {
        try optional(key, "true or false", \.bool) ?? false
    }

    /// Returns an array of strings, or `nil` if the key is missing.
    func optionalStrings(_ key: String) throws(ProvisioningError) -> [String]? {
        try optional(key, "an array of strings", \.strings)
    }

    /// Returns an array of data, which is empty if the key is missing.
    func datas(_ key: String) throws(ProvisioningError) -> [[UInt8]] {
        try optional(key, "an array of data") { list in
            let datas = list.array?.compactMap(\.data)
            return datas?.count == list.array?.count ? datas : nil
        } ?? []
    }

    func dictionary(_ key: String) throws(ProvisioningError) -> PropertyListValue {
        guard let value = values[key] else { throw .missing(key) }
        guard value.dictionary != nil else { throw .wrongType(key, expected: "a dictionary") }
        return value
    }

    private func optional<Value>(
        _ key: String, _ expected: String, _ take: (PropertyListValue) -> Value?
    ) throws(ProvisioningError) -> Value? {
        guard let value = values[key] else { return nil }
        guard let taken = take(value) else { throw .wrongType(key, expected: expected) }
        return taken
    }
}
