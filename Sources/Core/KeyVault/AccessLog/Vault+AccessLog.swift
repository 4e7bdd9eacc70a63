internal import Sealing
internal import SharedFiles

extension Vault {
    /// Passes every stored entry of the access log to `body`, oldest first, and whether it is authentic in its place.
    /// Checks the chain against the head that the vault noted at its last change, and the vault's writes against the
    /// entries.
    ///
    /// - Throws: `VaultError` `.file` or `.denied` if the log cannot be read, and as `current()`.
    package func readAccessLog(
        _ body: (AccessEntry, _ isAuthentic: Bool) -> Void = { _, _ in }
    ) throws(VaultError) -> AccessLogVerification {
        let contents = try current()
        let noted = try contents.service.state.logHead
        var logged: Set<VaultWrite> = []
        var rekeyed: Set<VaultWrite> = []
        // A slot that was there before the first person's keeps its flag clear for the rest of the period.
        let beganWithPersons = contents.register?.slots.allSatisfy(\.isVouchedFor) ?? true
        var found = try VaultError.onFiles("read the access log") { () throws(FileError) in
            try log.read(noted: noted) { entry, isAuthentic in
                if isAuthentic {
                    logged.formUnion(VaultWrite.writes(of: entry, andPersons: beganWithPersons))
                    if entry.event == .rekeyed, entry.outcome == .intended { rekeyed.insert(VaultWrite(entry)) }
                }
                body(entry, isAuthentic)
            }
        }
        if let notedByPersons = personLogHead(of: contents) {
            let again = try VaultError.onFiles("read the access log") { () throws(FileError) in
                try log.verify(noted: notedByPersons)
            }
            found.compare(with: again.notedHead)
        }
        found.unloggedCount = contents.writes.reduce(0) {
            $0 + $1.unlogged(in: logged, rekeyed: rekeyed, isWhole: found.firstIndex == 0)
        }
        return found
    }

    /// Returns the head that `vault.person` noted; `nil` if the person root is not available. A service can note any
    /// head in `vault`, and none here.
    private func personLogHead(of contents: VaultContents) -> AccessLogHead? {
        guard contents.personFile != nil, (try? keys.reachesPerson()) == true else { return nil }
        return try? keys.withPerson { root throws(VaultError) in
            try contents.person(root, place: place).state.logHead
        }
    }
}

extension AccessLogVerification {
    /// Takes over the result for the head that `vault.person` noted. A log that matches the head in `vault` and not
    /// this one is another log.
    fileprivate mutating func compare(with other: NotedHead) {
        switch (notedHead, other) {
        case (_, .none), (_, .found), (_, .rolledAway), (.differs, _): break
        case (.cutShort(let missing), .cutShort(let more)): notedHead = .cutShort(missing: max(missing, more))
        default: notedHead = .differs
        }
    }
}

extension Vault {
    /// Returns the access log's hashes of an item.
    ///
    /// - Throws: `VaultError` `.invalidArgument`, and as `current()`.
    package func accessSubjects(service: String, account: String) throws(VaultError) -> Set<AccessSubject> {
        let name = try ItemName(service: service, account: account, operation: "find an item of", path: path)
        return try current().logKeys?.subjects(of: name.subject) ?? []
    }

    /// Returns the access log's hashes of a slot.
    package func accessSubjects(slot id: UInt32) throws(VaultError) -> Set<AccessSubject> {
        try current().logKeys?.subjects(of: Self.subject(id)) ?? []
    }
}

extension VaultWrite {
    fileprivate init(_ entry: AccessEntry) {
        self.init(
            entry.isPersonCompartment ? .person : .service, period: entry.period, generation: entry.generation)
    }

    /// The writes that an entry enters. The creation makes the first write of each file that the vault begins with.
    ///
    /// - Parameter andPersons: Whether the vault began with the compartment of persons.
    fileprivate static func writes(of entry: AccessEntry, andPersons: Bool) -> [VaultWrite] {
        if entry.event == .created {
            let roles: [CompartmentRole] = andPersons ? [.service, .person] : [.service]
            return roles.map { VaultWrite($0, period: entry.period, generation: entry.generation) }
        }
        return entry.outcome == .intended ? [VaultWrite(entry)] : []
    }

    /// Returns the number of writes up to this one, in its period, without an entry.
    ///
    /// - Parameters:
    ///   - rekeyed: The writes of rekeys. Completing a rekey skips some generations, so that two completions do not
    ///     write the same number; no program wrote the skipped ones.
    ///   - isWhole: Whether the log starts at the vault's creation.
    fileprivate func unlogged(in logged: Set<VaultWrite>, rekeyed: Set<VaultWrite>, isWhole: Bool) -> UInt64 {
        let writes = logged.filter {
            // No write has generation 0: an entry that names it is forged.
            $0.period == period && $0.isPerson == isPerson && (1...generation).contains($0.generation)
        }.sorted { $0.generation < $1.generation }
        guard let first = writes.first else { return 1 }
        var known = isWhole && period == 1 ? 0 : first.generation - 1
        var missing: UInt64 = 0
        for write in writes where write.generation > known {
            if !rekeyed.contains(write) { missing += write.generation - known - 1 }
            known = write.generation
        }
        return missing + generation - known
    }
}

extension VaultContents {
    /// The writes that the two files contain.
    fileprivate var writes: [VaultWrite] {
        var writes: [VaultWrite] = []
        if let head = serviceHead {
            writes.append(VaultWrite(.service, period: head.period, generation: head.generation))
        }
        if let register, personFile != nil {
            writes.append(VaultWrite(.person, period: register.period, generation: register.generation))
        }
        return writes
    }
}
