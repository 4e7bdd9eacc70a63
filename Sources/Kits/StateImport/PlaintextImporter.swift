internal import AppGroups
internal import CryptoPrimitives
public import SealedState
internal import SharedFiles

/// Moves plaintext of other programs into the sealed form of a group.
///
/// Every call seals each file durably, opens the sealed form as any reader would, compares it, and only then removes
/// the plaintext, durably too. If a call is killed or interrupted at any point, repeating it completes the move without
/// loss or duplicates. A target with different contents is a conflict.
///
/// Removing a file does not erase it (`docs/guides/coming-from.md`). End programs that still write the plaintext first.
public struct PlaintextImporter: Sendable {
    /// The target store.
    public let store: SealedStore
    /// The options of the moves.
    public let options: PlaintextImportOptions

    /// Creates moves into a store, with the given options.
    public init(to store: SealedStore, options: PlaintextImportOptions = PlaintextImportOptions()) {
        self.store = store
        self.options = options
    }

    /// Moves a file of JSON, or a binary property list, into a record. Its bytes stay unchanged, except the dates.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - name: The record's name.
    ///   - schemaVersion: The version of the record's type that reads these bytes.
    ///   - conversion: The fields that are dates. Unless the source is kept, every number that looks like a date has to
    ///     be in it, as a date or as a number.
    /// - Throws: `StoreError`: `.sourceUnusable`, `.sourceMalformed`, `.sourceChanged`, `.conflict`, `.sourceKept`,
    ///   `.verificationFailed`, `.invalidName` for fields that contradict each other, and those of writing and reading
    ///   a record. After all but `.durabilityUnknown` the plaintext is unchanged.
    public func record(
        _ path: String, as name: String, schemaVersion: UInt32 = 1, conversion: RecordConversion = RecordConversion()
    ) throws(StoreError) -> MovedItem {
        try record(path, RecordPlan(name: name, schemaVersion: schemaVersion, conversion: conversion))
    }

    /// Moves a file that was sealed with AES-256-GCM, in CryptoKit's combined form, into a record.
    ///
    /// - Parameters:
    ///   - path: The file: nonce, ciphertext and tag.
    ///   - key: Its key.
    ///   - name: The record's name.
    ///   - schemaVersion: The version of the record's type that reads these bytes.
    ///   - conversion: As in `record`.
    /// - Throws: `StoreError` as `record`; `.wrongKey`; `.cipherUnavailable`.
    public func aesGCM(
        _ path: String, key: PlaintextImportKey, as name: String, schemaVersion: UInt32 = 1,
        conversion: RecordConversion = RecordConversion()
    ) throws(StoreError) -> MovedItem {
        try record(path, RecordPlan(name: name, schemaVersion: schemaVersion, conversion: conversion, key: key))
    }

    /// Moves a file of any size into a sealed file of the group (`SealedStore.files`). Memory stays constant.
    ///
    /// An SQLite database, such as a store of Core Data, becomes one sealed file: the transactions in the write-ahead
    /// log beside it are included, and the log is removed with it. A database with an interrupted transaction, with two
    /// names or with a log that is not its own is refused, and one that is written meanwhile or open in a program. A
    /// process that has the database open itself loses SQLite's locks on it by this call: close it first.
    /// - Parameters:
    ///   - path: The file.
    ///   - name: The sealed file's name; by default the last segment of `path`, and for a file of the group's own
    ///     container its path in it, with `_` for characters that names do not have.
    /// - Throws: `StoreError` as `record`; `.invalidName`.
    public func file(_ path: String, named name: String? = nil) throws(StoreError) -> MovedItem {
        let importer = try present()
        let places = PlaintextImportExclusions(of: importer.store, options)
        let name = try importer.fileName(name, of: path, places)
        let place = try importer.store.filePlace(name)
        let isDone = { () throws(StoreError) in try importer.hasValue(at: place) }
        guard let source = try importer.source(path, places, orDone: isDone) else {
            var item = MovedItem(path, .file, name, .gone)
            item.notes = try DatabaseFiles.notes(ofGone: path)
            return item
        }
        let isSealed = try source.holdsSealedForm()
        guard options.sealsAgain || !isSealed else {
            throw StoreError.unusable(
                path, "It is sealed already.", advice: "Leave it unchanged, or state that it is to be sealed again.")
        }
        if let owner = DatabaseFiles.owner(of: source.relative), try source.isPart(of: owner) {
            throw StoreError.unusable(
                path, "It is a part of a database.", advice: "Import the database, and this file with it.")
        }
        return try importer.move(source, toFile: name)
    }

    private func fileName(
        _ stated: String?, of path: String, _ places: PlaintextImportExclusions
    ) throws(StoreError) -> String {
        if let stated { return stated }
        let (directory, leaf) = try PlaintextSource.place(of: path)
        guard let name = SealedFileName.name(ofPath: places.containerPath(of: directory.display(leaf)) ?? leaf) else {
            throw StoreError(
                .invalidName, StoreError.plaintextImport, path.printable,
                "Its path is too long for the name of a sealed file.",
                advice: "State a name for the sealed file: --name photos/1.jpg.")
        }
        return name
    }
}

extension PlaintextImporter {
    /// Returns the same moves into the container that has the group's place now.
    func present() throws(StoreError) -> PlaintextImporter {
        PlaintextImporter(to: try store.following(), options: options)
    }

    private func record(_ path: String, _ plan: RecordPlan) throws(StoreError) -> MovedItem {
        let importer = try present()
        let places = PlaintextImportExclusions(of: importer.store, options, needing: plan.neededPaths)
        let isDone = { () throws(StoreError) in try importer.hasRecord(plan.name) }
        guard let source = try importer.source(path, places, orDone: isDone) else {
            return MovedItem(path, .record, plan.name, .gone)
        }
        return try importer.move(source, plan)
    }

    /// Opens a file; returns `nil` if it is missing and its target exists.
    func source(
        _ path: String, _ places: PlaintextImportExclusions, orDone isDone: () throws(StoreError) -> Bool
    ) throws(StoreError) -> PlaintextSource? {
        do throws(StoreError) {
            let source = try PlaintextSource(path: path, isDryRun: options.isDryRun)
            try places.require(source)
            return source
        } catch {
            guard (error.cause as? FileError)?.code == .notFound, try isDone() else { throw error }
            return nil
        }
    }

    func hasRecord(_ name: String) throws(StoreError) -> Bool { try hasValue(at: store.places.place(name)) }

    func hasValue(at place: RecordPlace) throws(StoreError) -> Bool {
        if case .value = try store.reader.existing(at: place) { true } else { false }
    }

    func move(_ source: PlaintextSource, _ plan: RecordPlan) throws(StoreError) -> MovedItem {
        var notes: [String] = []
        let form = try RecordForm(
            plan.contents(of: source, options, store, notes: &notes), as: plan.name,
            schemaVersion: plan.schemaVersion, in: store)
        var item = try Move(source: source, form: form, options: options).run()
        item.notes += notes
        return item
    }

    func move(_ source: PlaintextSource, toFile name: String) throws(StoreError) -> MovedItem {
        let contents = FileContents(of: source, with: try DatabaseFiles(beside: source))
        let form = try FileForm(of: contents, as: name, in: store)
        var item = try Move(source: source, form: form, options: options).run()
        item.notes = (form.file?.database?.notes ?? []) + item.notes
        return item
    }
}

/// Options of moving plaintext.
public struct PlaintextImportOptions: Sendable, Hashable {
    /// A Boolean value that indicates whether the plaintext is kept. By default it is removed once its sealed form was
    /// read back.
    public var keepsSource = false
    /// A Boolean value that indicates whether a target with different contents is replaced. By default that is a
    /// conflict, and nothing is changed.
    public var replacesTarget = false
    /// A Boolean value that indicates whether everything is only read and compared, and nothing is written or removed.
    public var isDryRun = false
    /// A Boolean value that indicates whether `PlaintextImporter.file` seals a sealed file again. By default the file
    /// is refused.
    public var sealsAgain = false
    /// Files that are never moved, under any of their names: those that the move itself needs. The group's vault and
    /// the given keys of files are always among them.
    public var excluded: Set<String> = []
    /// The largest file that is read as a whole, in bytes: records, defaults. 16 MiB by default. Sealed files have no
    /// limit.
    public var maximumFileSize = 16 << 20

    /// Creates the default options.
    public init() {}
}
