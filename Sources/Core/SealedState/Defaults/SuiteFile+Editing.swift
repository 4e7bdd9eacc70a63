internal import KeyVault
package import PropertyLists
internal import SealedBackends
internal import Sealing
internal import SharedFiles

/// Changing a suite: all of it is read, changed and written under its lock, so that no other program's change is lost.
extension SuiteFile {
    /// Reads, changes and writes the suite under its lock; writes nothing if nothing has changed.
    ///
    /// - Parameters:
    ///   - change: May be called again if the container was replaced meanwhile.
    ///   - check: Called before the suite is written, with the values before and after.
    /// - Returns: The result of `change`, and the sequence of the accepted state that was lost, if a new suite was
    ///   started.
    func edit<Result>(
        _ options: EditOptions, _ change: (inout [String: PropertyListValue]) throws -> Result,
        check: (_ old: [String: PropertyListValue], _ new: [String: PropertyListValue]) throws(StoreError) -> Void
    ) throws(StoreError) -> (result: Result, lost: UInt64?) {
        try inContainer(options) { store, writer throws(StoreError) -> (result: Result, lost: UInt64?) in
            let (old, lost) = try existing(in: store)
            var values = old
            let result: Result
            do { result = try change(&values) } catch { throw declined(error) }
            if PropertyListValue.isSame(values, old) { return (result, nil) }
            try check(old, values)
            try write(values, to: store, writer, options, isReduction: Self.isReduction(values, of: old))
            return (result, lost)
        }
    }

    /// Writes the whole suite without reading the old one: also over a refused one, which is kept in quarantine.
    func replace(_ values: [String: PropertyListValue], _ options: EditOptions) throws(StoreError) {
        try inContainer(options) { store, writer throws(StoreError) in
            keepIfRefused(in: store)
            try write(values, to: store, writer, options)
        }
    }

    /// Deletes the suite; deleting a missing suite succeeds.
    func remove(_ options: EditOptions) throws(StoreError) {
        try inContainer(options) { store, writer throws(StoreError) in
            keepIfRefused(in: store)
            keep(nil, of: store)
            do throws(StoreError) { _ = try writer.delete(request(options, store)) } catch {
                guard error.code == .absent else { throw error }
            }
        }
    }

    private func inContainer<Result>(
        _ options: EditOptions, _ body: (SealedStore, borrowing LockedRecord) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try followed().onPresentContainer { store throws(StoreError) in
            follow(store)
            return try store.writer.locked(place, request(options, store)) { writer throws(StoreError) in
                try body(store, writer)
            }
        }
    }

    private func request(_ options: EditOptions, _ store: SealedStore) -> WriteRequest {
        store.writer.request(durability: options.durability, timeout: options.timeout, isCancelled: options.isCancelled)
    }

    /// Returns the stored values, and the accepted sequence of a file that is missing without a deletion: it has no
    /// values left.
    ///
    /// A timestamp in the future does not prevent changes: a clock that was wrong once would block all of them, and the
    /// next one corrects it.
    private func existing(in store: SealedStore) throws(StoreError) -> ([String: PropertyListValue], lost: UInt64?) {
        do throws(StoreError) { return (try contents(in: store).values, nil) } catch {
            guard error.code == .absent else { throw error }
            return ([:], store.watermarks.mark(of: place.context.nameTag)?.sequence)
        }
    }

    /// Keeps a refused file. A write reads headers only; damage of the contents is detected when they are opened.
    private func keepIfRefused(in store: SealedStore) {
        do throws(StoreError) { _ = try contents(in: store) } catch {
            if error.isRejection && error.code.isEvidence { store.reader.keepInQuarantine(error, at: place) }
        }
    }

    /// Returns `true` if settings were removed, and nothing else was changed.
    private static func isReduction(
        _ values: [String: PropertyListValue], of old: [String: PropertyListValue]
    ) -> Bool {
        values.count < old.count && PropertyListValue.isSame(values, old.filter { values[$0.key] != nil })
    }

    private func write(
        _ values: [String: PropertyListValue], to store: SealedStore, _ writer: borrowing LockedRecord,
        _ options: EditOptions, isReduction: Bool = false
    ) throws(StoreError) {
        let payload = try store.writer.suitePayload(values, named: place.name.text)
        defer { payload.wipe() }
        // Until the write is known to be finished, the contents in memory may be outdated.
        keep(nil, of: store)
        var request = request(options, store)
        request.isReduction = isReduction
        guard let sequence = try writer.write(payload, request) else {
            throw .downgraded(writing: place.name.text)
        }
        keep(written(values, sequence, in: store), of: store)
    }

    /// Returns the written contents, with their file held: no other program writes while the lock is held.
    private func written(
        _ values: [String: PropertyListValue], _ sequence: UInt64, in store: SealedStore
    ) -> SuiteContents? {
        guard let held = try? store.reader.held(at: place),
            let header = try? store.reader.keys.verifyHeader(
                Array(held.bytes.prefix(BlobLayout.headerSize)), "read", place), header.header.sequence == sequence,
            store.watermarks.verdict(on: header) == .same, held.isCurrent
        else { return nil }
        return SuiteContents(values, header.header, held: held)
    }

    private func declined(_ error: any Error) -> StoreError {
        if let error = error as? StoreError { return error }
        // The error's own text stays in its cause: it may contain contents.
        return StoreError(
            .declined, "update", place.name.text, "The program's own closure threw an error.",
            advice: "See the underlying error; nothing was written.", cause: error)
    }
}

/// The options of one change of a suite.
struct EditOptions {
    var durability: Durability?
    var timeout: Duration?
    var isCancelled: (() -> Bool)?
}

extension PropertyListValue {
    /// Returns the value's size in bytes when written, without the offsets of a property list.
    ///
    /// - Throws: `StructureFault` `.tooDeep`: a writer and every reader would recurse as deep.
    package func storedSize(levels: Int = StructureLimits.propertyList.depth) throws(StructureFault) -> Int {
        guard levels > 0 else { throw .tooDeep(limit: StructureLimits.propertyList.depth) }
        switch self {
        case .bool: return 1
        case .integer, .unsigned, .real, .date: return 9
        case .data(let bytes): return bytes.count
        case .string(let text): return text.utf8.count
        case .array(let values):
            var size = 0
            for value in values { size += try value.storedSize(levels: levels - 1) }
            return size
        case .dictionary(let values):
            var size = 0
            for (key, value) in values { size += try key.utf8.count + value.storedSize(levels: levels - 1) }
            return size
        }
    }
}
