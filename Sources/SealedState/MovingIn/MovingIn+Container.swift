internal import AppGroups
internal import SharedFiles

extension MovingIn {
    /// Moves a container of plaintext into the group's: property lists of `Library/Preferences` into suites of defaults, the
    /// files that the mapping names into records, every other one into a sealed file at the same path, `.sealed` behind it.
    ///
    /// Files that are sealed already, links, and what the library or the system keeps in a container are left, and the report
    /// says so. A file that cannot be moved does not keep the others from it.
    /// - Parameters:
    ///   - path: The plaintext container; nil for the group's own, whose plaintext is then sealed where it is.
    ///   - mapping: Which files become records.
    /// - Returns: What became of each file.
    /// - Throws: `StoreError` where the container cannot be read at all.
    public func container(
        _ path: String? = nil, mapping: ContainerMapping = ContainerMapping()
    ) throws(StoreError) -> MovingInReport {
        let root = try plaintextRoot(path)
        var report = MovingInReport()
        let listing = try PlaintextListing(of: root)
        for entry in listing.entries {
            report.items.append(item(for: entry, in: root, mapping))
        }
        let seen = Set(listing.entries.map(\.path))
        for (path, rule) in mapping.rules.sorted(by: { $0.key < $1.key }) where !seen.contains(path) {
            report.items.append(missing(path, rule))
        }
        return report
    }

    private func plaintextRoot(_ path: String?) throws(StoreError) -> Directory {
        guard let path else { return store.container.root }
        do throws(FileError) { return try Directory.open(PlaintextSource.real(path) ?? path) } catch {
            throw StoreError(reading: error, path)
        }
    }

    private func item(for entry: PlaintextEntry, in root: Directory, _ mapping: ContainerMapping) -> MovedItem {
        if let reason = entry.reasonToLeave { return MovedItem(entry.path, nil, nil, .left(reason: reason)) }
        do throws(StoreError) {
            let source = try PlaintextSource(entry.path, in: root, named: entry.path, isDryRun: options.isDryRun)
            if let rule = mapping.rules[entry.path] { return try move(source, rule.plan) }
            if let suite = entry.suite { return try move(source, toSuite: suite) }
            if let reason = entry.reasonForNoFile { return MovedItem(entry.path, nil, nil, .left(reason: reason)) }
            let place = SealedFilePlace(
                entry.path + ContainerLayout.recordSuffix, in: store.container.root, sharing: store.container.sharing)
            return try Move(source: source, form: StreamForm(of: source, at: place, for: store), options: options).run()
        } catch {
            // Gone since it was listed: somebody else has moved it.
            if (error.cause as? FileError)?.code == .notFound, error.code == .sourceUnusable {
                return MovedItem(entry.path, nil, nil, .left(reason: "It is gone."))
            }
            return MovedItem(entry.path, nil, nil, .failed(error))
        }
    }

    /// Of a rule whose file is not there: done by an earlier call, or never there.
    private func missing(_ path: String, _ rule: ContainerMapping.Rule) -> MovedItem {
        do throws(StoreError) {
            if try hasRecord(rule.record) { return MovedItem(path, .record, rule.record, .alreadyMoved) }
        } catch { return MovedItem(path, .record, rule.record, .failed(error)) }
        return MovedItem(
            path, .record, rule.record, .failed(.unusable(path, "The mapping names it, and it is not there.")))
    }
}
