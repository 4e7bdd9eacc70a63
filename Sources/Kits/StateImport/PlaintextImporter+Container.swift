internal import AppGroups
public import SealedState
internal import SharedFiles
internal import SystemPackage

extension PlaintextImporter {
    /// Moves a container of plaintext into the group's: property lists of `Library/Preferences` into suites of
    /// defaults, the files of the mapping into their targets, every other one into a sealed file named as its path.
    ///
    /// The files beside a database are moved or left with it, and are no items of the report. Sealed files, links, and
    /// files of the library or the system are left. Plaintext without a place is left as well, and the report names it.
    /// A file that cannot be moved does not prevent the others from being moved.
    /// - Parameters:
    ///   - path: The plaintext container; `nil` for the group's own, whose plaintext is then sealed in place.
    ///   - mapping: The targets of some files. Every rule is checked before anything is moved.
    /// - Returns: The outcome of each file.
    /// - Throws: `StoreError` if the container cannot be read at all, contains or is inside the groups' home, or if a
    ///   rule cannot be followed.
    public func container(
        _ path: String? = nil, mapping: ContainerMapping = ContainerMapping()
    ) throws(StoreError) -> PlaintextImportReport {
        let importer = try present()
        let needed = mapping.rules.values.flatMap(\.plan.neededPaths)
        let places = PlaintextImportExclusions(of: importer.store, options, needing: needed)
        let root = try importer.plaintextRoot(path)
        try places.require(directory: root.path.string)
        let listing = try PlaintextListing(of: root, places)
        let mapping = try CheckedMapping(mapping, listing, importer)
        var report = PlaintextImportReport()
        for entry in listing.entries {
            if case .part = entry.reason { continue }
            report.items.append(importer.item(for: entry, in: root, mapping, places))
        }
        report.items += mapping.gone
        return report
    }

    private func plaintextRoot(_ path: String?) throws(StoreError) -> Directory {
        guard let path else { return store.container.root }
        do throws(FileError) { return try Directory.open(PlaintextSource.real(path) ?? path) } catch {
            throw StoreError(reading: error, path)
        }
    }

    private func item(
        for entry: PlaintextEntry, in root: Directory, _ mapping: CheckedMapping, _ places: PlaintextImportExclusions
    ) -> MovedItem {
        let fate = mapping.fate(of: entry.path)
        if let left = left(entry, fate) { return left }
        let source: PlaintextSource
        do throws(StoreError) {
            source = try PlaintextSource(
                entry.path, in: root, named: entry.path, aside: entry.aside, isDryRun: options.isDryRun)
        } catch {
            // Gone since it was listed: another process has moved it.
            let isGone = (error.cause as? FileError)?.code == .notFound
            return MovedItem(entry.path, nil, nil, isGone ? .left(reason: "It is missing.") : .failed(error))
        }
        do throws(StoreError) {
            try places.require(source)
            return try move(source, entry, fate)
        } catch { return MovedItem(entry.path, nil, nil, .failed(error)) }
    }

    private func move(
        _ source: PlaintextSource, _ entry: PlaintextEntry, _ fate: CheckedMapping.Fate?
    ) throws(StoreError) -> MovedItem {
        switch fate {
        case .record(let rule): return try move(source, rule.plan)
        case .suite(let suite): return try move(source, toSuite: suite)
        case .file(let name): return try move(source, toFile: name)
        case .stays, nil: break
        }
        if let suite = entry.suite { return try move(source, toSuite: suite) }
        return try move(source, toFile: entry.fileName ?? entry.path)
    }

    private func left(_ entry: PlaintextEntry, _ fate: CheckedMapping.Fate?) -> MovedItem? {
        if case .noPlaintext(let reason) = entry.reason {
            return MovedItem(entry.path, nil, nil, .left(reason: reason))
        }
        if case .stays = fate { return MovedItem(entry.path, nil, nil, .left(reason: "The map excludes it.")) }
        guard fate == nil, case .noPlace(let reason) = entry.reason else { return nil }
        var item = MovedItem(entry.path, nil, nil, .left(reason: reason))
        item.isLeftInPlaintext = true
        return item
    }
}
