internal import SealedState
internal import SharedFiles

/// The targets of files of a plaintext container, by their paths below it, `/`-separated; `.` and empty segments are
/// dropped.
public struct ContainerMapping: Sendable {
    /// The record that a file becomes.
    public struct Rule: Sendable {
        /// The record's name.
        public var record: String
        /// The version of the record's type that reads it; 1 by default.
        public var schemaVersion: UInt32
        /// The fields that are dates; see `PlaintextImporter.record`.
        public var conversion: RecordConversion
        /// The key of a file that was sealed with AES-256-GCM; `nil` for plaintext.
        public var key: PlaintextImportKey?

        /// Creates a rule for one file.
        public init(
            record: String, schemaVersion: UInt32 = 1, conversion: RecordConversion = RecordConversion(),
            key: PlaintextImportKey? = nil
        ) {
            self.record = record
            self.schemaVersion = schemaVersion
            self.conversion = conversion
            self.key = key
        }

        var plan: RecordPlan {
            RecordPlan(name: record, schemaVersion: schemaVersion, conversion: conversion, key: key)
        }
    }

    /// The records that files become.
    public var rules: [String: Rule]
    /// The suites that property lists become, also if a file's name is not a suite's.
    public var suites: [String: String] = [:]
    /// The names of the sealed files that files become, in place of their paths.
    public var files: [String: String] = [:]
    /// Files, and directories with their contents, that stay unchanged.
    public var left: Set<String> = []

    /// Creates a mapping with these rules.
    public init(_ rules: [String: Rule] = [:]) { self.rules = rules }
}

/// A mapping whose rules can all be followed. The check precedes every move, since a file that a wrong rule misses
/// would be moved to another target.
struct CheckedMapping {
    /// The target of a file.
    enum Fate {
        case record(ContainerMapping.Rule)
        case suite(String)
        case file(String)
        case stays
    }

    /// By the bytes of the path, as file systems compare names.
    private var fates: [[UInt8]: (path: String, fate: Fate)] = [:]
    /// The items of rules for missing files whose targets exist.
    private(set) var gone: [MovedItem] = []

    /// - Throws: `StoreError`: `.invalidName` for an invalid path, record, field or suite, and for two rules for one of
    ///   them; `.sourceUnusable` for a rule whose file is missing, or cannot be moved, and for a missing golden record;
    ///   `.sourceMalformed` for another golden record; `.wrongKey`.
    init(_ mapping: ContainerMapping, _ listing: PlaintextListing, _ importer: PlaintextImporter) throws(StoreError) {
        try collect(mapping)
        try checkTargets(importer)
        let entries = Dictionary(listing.entries.map { (Array($0.path.utf8), $0) }) { first, _ in first }
        let unruled = Set(listing.entries.filter { fates[Array($0.path.utf8)] == nil }.compactMap(\.fileName))
        for (bytes, (path, fate)) in fates.sorted(by: { $0.value.path < $1.value.path }) {
            if case .stays = fate {
                guard listing.entries.contains(where: { Self.covers(path, $0.path) }) else { throw Self.missing(path) }
                try requireDatabaseLeft(entries[bytes])
                continue
            }
            guard let entry = entries[bytes] else {
                gone.append(try Self.gone(path, fate, importer))
                continue
            }
            switch entry.reason {
            case .noPlaintext(let reason), .part(let reason): throw .unusable(path, "The map names it. \(reason)")
            case .noPlace, nil: break
            }
            if case .file(let name) = fate, unruled.contains(name) {
                throw Self.fault(path, "Another file becomes the sealed file \(name.printable) too.")
            }
        }
    }

    /// Returns the mapping's target for a file, or `nil` without one.
    func fate(of path: String) -> Fate? {
        if let fate = fates[Array(path.utf8)]?.fate { return fate }
        var above = path.utf8[...]
        while let slash = above.lastIndex(of: UInt8(ascii: "/")) {
            above = above[..<slash]
            if case .stays = fates[Array(above)]?.fate { return .stays }
        }
        return nil
    }

    /// Refuses to leave a part of a database that is to be moved: it is removed with its database.
    private func requireDatabaseLeft(_ entry: PlaintextEntry?) throws(StoreError) {
        guard let entry, case .part(let reason) = entry.reason, let owner = DatabaseFiles.owner(of: entry.path) else {
            return
        }
        if case .stays = fate(of: owner) { return }
        throw .unusable(
            entry.path, reason, advice: "Name the database \(owner.printable) in the map instead; nothing was moved.")
    }

    /// Returns the item of a rule whose file is missing: an earlier call may have moved it, if its target exists.
    private static func gone(
        _ path: String, _ fate: Fate, _ importer: PlaintextImporter
    ) throws(StoreError) -> MovedItem {
        switch fate {
        case .record(let rule):
            if try importer.hasRecord(rule.record) { return MovedItem(path, .record, rule.record, .gone) }
        case .suite(let suite):
            let place = try importer.store.suiteForImport(suite).file.place
            if try importer.hasValue(at: place) { return MovedItem(path, .defaults, suite, .gone) }
        case .file(let name):
            if try importer.hasValue(at: importer.store.filePlace(name)) { return MovedItem(path, .file, name, .gone) }
        case .stays: break
        }
        throw missing(path)
    }

    private mutating func collect(_ mapping: ContainerMapping) throws(StoreError) {
        for (path, rule) in mapping.rules { try add(.record(rule), path) }
        for (path, suite) in mapping.suites { try add(.suite(suite), path) }
        for (path, name) in mapping.files { try add(.file(name), path) }
        for path in mapping.left { try add(.stays, path) }
    }

    private mutating func add(_ fate: Fate, _ path: String) throws(StoreError) {
        let segments = path.split(separator: "/").filter { $0 != "." }
        guard !path.hasPrefix("/"), !segments.isEmpty, !segments.contains(".."), !path.utf8.contains(0) else {
            throw Self.fault(path, "It is not a path below the container.")
        }
        let joined = segments.joined(separator: "/")
        guard fates.updateValue((joined, fate), forKey: Array(joined.utf8)) == nil else {
            throw Self.fault(path, "The map has two rules for it.")
        }
    }

    private func checkTargets(_ importer: PlaintextImporter) throws(StoreError) {
        var (records, files): (Set<String>, Set<String>) = ([], [])
        for (path, fate) in fates.values {
            switch fate {
            case .record(let rule):
                let name = try importer.store.places.place(rule.record).name.text
                guard records.insert(name).inserted else {
                    throw Self.fault(path, "Another file is also mapped to the record \(name.printable).")
                }
                _ = try rule.key?.bytes(from: importer.store)
                _ = try rule.plan.checked(importer.options, importer.store)
            case .suite(let suite): _ = try importer.store.suiteForImport(suite)
            case .file(let name):
                _ = try importer.store.filePlace(name)
                guard files.insert(name).inserted else {
                    throw Self.fault(path, "Another file is also mapped to the sealed file \(name.printable).")
                }
            case .stays: break
            }
        }
    }

    private static func covers(_ path: String, _ file: String) -> Bool {
        file.utf8.elementsEqual(path.utf8) || file.utf8.starts(with: (path + "/").utf8)
    }

    private static func missing(_ path: String) -> StoreError {
        .unusable(path, "The map names it, and it does not exist.", advice: "Correct the map; nothing was moved.")
    }

    private static func fault(_ path: String, _ reason: String) -> StoreError {
        StoreError(
            .invalidName, StoreError.plaintextImport, path.printable, reason,
            advice: "Correct the map; nothing was moved.")
    }
}
