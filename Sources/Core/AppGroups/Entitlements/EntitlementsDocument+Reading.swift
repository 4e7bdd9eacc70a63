internal import PropertyLists
internal import SharedFiles

extension EntitlementsDocument {
    /// More structure than any program's entitlements have, and little enough to be refused at once.
    private static let limits = StructureLimits(depth: 32, values: 20_000, size: 1 << 20)

    /// Reads entitlements from a property list's bytes, XML or binary.
    ///
    /// - Throws: ``AppGroupError`` `malformedEntitlements`, also for a property list in the old text format, in which every
    ///   value is text.
    public init(parsing bytes: UnsafeRawBufferPointer) throws(AppGroupError) {
        let list: PropertyListValue
        let format: PropertyListFormat
        do throws(StructureFault) {
            (list, format) = try PropertyList.parse(bytes, limits: Self.limits)
        } catch {
            throw .malformedEntitlements(AppGroupError.wholeFile, error.reason.clause)
        }
        guard format != .openStep else {
            throw .malformedEntitlements(
                AppGroupError.wholeFile, "it is a property list in the old text format, not XML or binary")
        }
        try self.init(list)
    }

    /// Reads entitlements from a property list's bytes, XML or binary.
    ///
    /// - Throws: ``AppGroupError`` `malformedEntitlements`.
    public init(parsing bytes: [UInt8]) throws(AppGroupError) {
        let result = bytes.withUnsafeBytes { buffer -> Result<EntitlementsDocument, AppGroupError> in
            do throws(AppGroupError) { return .success(try EntitlementsDocument(parsing: buffer)) } catch {
                return .failure(error)
            }
        }
        self = try result.get()
    }

    /// Reads an `.entitlements` file.
    ///
    /// Only a regular file of 1 MiB at most is read; a link in its place is not followed, and a FIFO not waited for.
    /// - Throws: ``AppGroupError`` `malformedEntitlements`; `file` where it cannot be read, with the cause as `underlying`.
    public static func read(path: String) throws(AppGroupError) -> EntitlementsDocument {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try EntitlementsFile(path: path).read() } catch {
            throw .unreadableEntitlements(error)
        }
        do throws(AppGroupError) { return try EntitlementsDocument(parsing: bytes) } catch { throw error.inFile(path) }
    }
}
