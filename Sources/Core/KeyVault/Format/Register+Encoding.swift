internal import CryptoPrimitives
internal import Sealing

extension Register {
    private enum Field: UInt16, CaseIterable {
        case identity = 1
        case chain = 2
        case teamKey = 3
        case roots = 4
        case slots = 5
        case keys = 6
        case rotation = 7
        case names = 8
        case nextSlot = 9
    }

    var encodedFields: [UInt8] {
        var writer = ByteWriter()
        for field in Field.allCases {
            guard let contents = encoded(field) else { continue }
            writer.append(field.rawValue)
            writer.append(UInt16(1))
            writer.append(UInt32(contents.count))
            writer.append(contents)
        }
        for (number, contents) in otherFields.sorted(by: { $0.key < $1.key }) {
            writer.append(number)
            writer.append(UInt16(0))
            writer.append(UInt32(contents.count))
            writer.append(contents)
        }
        return writer.bytes
    }

    private func encoded(_ field: Field) -> [UInt8]? {
        var writer = ByteWriter()
        switch field {
        case .identity:
            writer.append(vaultID)
            writer.append(period)
            writer.append(UInt32(0))
            writer.append(generation)
        case .chain:
            for entry in chain { entry.encode(into: &writer) }
        case .teamKey:
            guard person != nil, let teamKey else { return nil }
            writer.append(teamKey)
        case .roots:
            root.withUnsafeBytes { writer.append($0) }
            (nextRoot ?? .zero).withUnsafeBytes { writer.append($0) }
            watermarkCommitment.withUnsafeBytes { writer.append($0) }
            personRoot.withUnsafeBytes { writer.append($0) }
        case .slots:
            for slot in slots.sorted(by: { $0.id < $1.id }) { slot.encode(into: &writer) }
        case .keys:
            guard let person else { return nil }
            for key in person.keys { key.encode(into: &writer) }
        case .rotation:
            guard let person else { return nil }
            person.rotation.encode(into: &writer)
        case .names:
            guard let person else { return nil }
            writer.append(person.nameCount)
            writer.append(UInt32(0))
            person.namesDigest.withUnsafeBytes { writer.append($0) }
        case .nextSlot: writer.append(nextSlotID)
        }
        return writer.bytes
    }

    /// Parses fields and signature; `verify` checks that they are authentic.
    ///
    /// - Throws: `VaultError` `.corrupt`, `.unsupported`.
    init(parsing bytes: ArraySlice<UInt8>, path: String) throws(VaultError) {
        guard bytes.count > Ed25519.signatureSize else { throw .corrupt(path, "Its register is truncated.") }
        var fields = try Self.fields(bytes.dropLast(Ed25519.signatureSize), path)
        func take(_ field: Field) throws(VaultError) -> ByteReader {
            guard let contents = fields.removeValue(forKey: field.rawValue) else {
                throw .corrupt(path, "Its register lacks field \(field.rawValue).")
            }
            return ByteReader(contents, path: path)
        }
        var identity = try take(.identity)
        vaultID = Array(try identity.take(16))
        period = try identity.integer()
        let reserved: UInt32 = try identity.integer()
        generation = try identity.integer()
        chain = try PersonKeyEntry.parse(try take(.chain), path)
        teamKey = fields.removeValue(forKey: Field.teamKey.rawValue).map(Array.init)
        var roots = try take(.roots)
        root = try roots.take(32).withUnsafeBytes { Bytes32($0) }
        let next = try roots.take(32).withUnsafeBytes { Bytes32($0) }
        nextRoot = next == .zero ? nil : next
        watermarkCommitment = try roots.take(32).withUnsafeBytes { Bytes32($0) }
        personRoot = try roots.take(32).withUnsafeBytes { Bytes32($0) }
        slots = try RegisteredSlot.parse(try take(.slots), path)
        person = try Person(taking: &fields, period: period, path)
        var nextSlot = try take(.nextSlot)
        nextSlotID = try nextSlot.integer()
        guard reserved == 0, identity.isAtEnd, roots.isAtEnd, nextSlot.isAtEnd, teamKey.map({ $0.count == 32 }) ?? true,
            (person == nil) == (personRoot == .zero),
            // Services sign such a register, so no person has vouched for a person's slot in it.
            person != nil || slots.allSatisfy({ $0.reach == .afterFirstUnlock }),
            slots.allSatisfy({ [nextSlotID] in $0.id < nextSlotID }),
            chain.last.map({ [period] in $0.period <= period }) == true
        else { throw .corrupt(path, "Its register has invalid numbers.") }
        if person == nil { teamKey = nil }
        otherFields = fields.mapValues(Array.init)
        signedBytes = Array(bytes)
    }

    private static func fields(
        _ bytes: ArraySlice<UInt8>, _ path: String
    ) throws(VaultError) -> [UInt16: ArraySlice<UInt8>] {
        var reader = ByteReader(bytes, path: path)
        var fields: [UInt16: ArraySlice<UInt8>] = [:]
        var last = -1
        while !reader.isAtEnd {
            let number: UInt16 = try reader.integer()
            let flags: UInt16 = try reader.integer()
            let size: UInt32 = try reader.integer()
            let isKnown = Field(rawValue: number) != nil
            guard Int(number) > last, flags <= 1, !isKnown || flags == 1 else {
                throw .corrupt(path, "Its register's fields are out of order, or have invalid flags.")
            }
            guard flags == 0 || isKnown else {
                throw VaultError(.unsupported, "open the vault", path, "Its register has an unknown field \(number).")
            }
            fields[number] = try reader.take(Int(size))
            last = Int(number)
        }
        return fields
    }
}

extension Register.Person {
    fileprivate init?(
        taking fields: inout [UInt16: ArraySlice<UInt8>], period: UInt32, _ path: String
    ) throws(VaultError) {
        let found = [6, 7, 8].compactMap { fields.removeValue(forKey: $0) }
        guard !found.isEmpty else { return nil }
        guard found.count == 3 else { throw .corrupt(path, "Its register lacks a field.") }
        var keyReader = ByteReader(found[0], path: path)
        while !keyReader.isAtEnd { keys.append(try RegisteredKey(parsing: &keyReader, path)) }
        let highest = KeyringEntry.maximumEpoch(period: period)
        guard zip(keys, keys.dropFirst()).allSatisfy({ $0.epoch < $1.epoch }),
            keys.count(where: { $0.state == .active }) <= 1, keys.count <= KeyringEntry.maximumCount,
            Set(keys.map(\.keyID)).count == keys.count, keys.last.map({ $0.epoch <= highest }) ?? true
        else { throw .corrupt(path, "Its register's keys are out of order, too many, or have an invalid epoch.") }
        var reader = ByteReader(found[1], path: path)
        rotation = try RotationFields(parsing: &reader, path: path)
        try rotation.check(
            active: keys.first { $0.state == .active }?.epoch, hasKeys: !keys.isEmpty, path: path)
        var names = ByteReader(found[2], path: path)
        nameCount = try names.integer()
        let reserved: UInt32 = try names.integer()
        namesDigest = try names.take(32).withUnsafeBytes { Bytes32($0) }
        guard reader.isAtEnd, names.isAtEnd, reserved == 0 else {
            throw .corrupt(path, "Its register has invalid numbers.")
        }
    }
}

extension PersonKeyEntry {
    fileprivate func encode(into writer: inout ByteWriter) {
        writer.append(period)
        writer.append(UInt32(isKnownToServices ? 1 : 0))
        writer.append(key.bytes)
        writer.append(link)
        writer.append(certificate)
    }

    fileprivate static func parse(_ reader: ByteReader, _ path: String) throws(VaultError) -> [PersonKeyEntry] {
        var reader = reader
        var chain: [PersonKeyEntry] = []
        while !reader.isAtEnd {
            let period: UInt32 = try reader.integer()
            let flags: UInt32 = try reader.integer()
            let bytes = Array(try reader.take(32))
            let link = Array(try reader.take(Ed25519.signatureSize))
            let certificate = Array(try reader.take(Ed25519.signatureSize))
            guard flags <= 1, period > 0, chain.last.map({ $0.period <= period }) ?? true,
                chain.count < maximumCount, let key = try? Ed25519.PublicKey(bytes: bytes),
                !chain.contains(where: { $0.key == key })
            else { throw .corrupt(path, "Its chain of person keys has invalid numbers.") }
            chain.append(
                PersonKeyEntry(
                    period: period, isKnownToServices: flags == 1, key: key, link: link, certificate: certificate))
        }
        guard !chain.isEmpty else { throw .corrupt(path, "It has no person key.") }
        return chain
    }
}

extension RegisteredSlot {
    fileprivate func encode(into writer: inout ByteWriter) {
        let label = Array(label.utf8.prefix(255))
        writer.append(id)
        writer.append(kind.rawValue)
        writer.append(reach.rawValue)
        writer.append(UInt8(label.count))
        writer.append(UInt8(isVouchedFor ? 1 : 0))
        writer.append(createdAt)
        writer.append(addedBy)
        writer.append(UInt32(0))
        writer.append(publicKey)
        writer.append(parameters)
        writer.append(label)
    }

    fileprivate static func parse(_ reader: ByteReader, _ path: String) throws(VaultError) -> [RegisteredSlot] {
        var reader = reader
        var slots: [RegisteredSlot] = []
        while !reader.isAtEnd {
            let id: UInt32 = try reader.integer()
            let kindByte: UInt8 = try reader.integer()
            let reachByte: UInt8 = try reader.integer()
            let labelSize: UInt8 = try reader.integer()
            let flags: UInt8 = try reader.integer()
            let createdAt: UInt64 = try reader.integer()
            let addedBy: UInt32 = try reader.integer()
            let reserved: UInt32 = try reader.integer()
            let publicKey = Array(try reader.take(32))
            guard let kind = SlotKind(rawValue: kindByte), let reach = SlotReach(rawValue: reachByte), reach != .backup
            else {
                throw VaultError(
                    .unsupported, "open the vault", path,
                    "Its register has a slot of kind \(kindByte) and reach \(reachByte).")
            }
            let parameters = Array(try reader.take(kind.parameterSize))
            let label = String(validating: try reader.take(Int(labelSize)), as: UTF8.self)
            guard let label, !label.hasControlCharacter, flags <= 1, reserved == 0, id > 0, kind.permits(reach),
                slots.last.map({ $0.id < id }) ?? true
            else { throw .corrupt(path, "Its register's slots have invalid numbers.") }
            slots.append(
                RegisteredSlot(
                    id: id, kind: kind, reach: reach, isVouchedFor: flags == 1, createdAt: createdAt, addedBy: addedBy,
                    publicKey: publicKey, parameters: parameters, label: label))
        }
        guard slots.count <= 2 * CompartmentHead.maximumSlots else {
            throw .corrupt(path, "Its register has too many slots.")
        }
        return slots
    }
}

extension String {
    /// `true` if the string has a code point of the category Cc: terminals show labels.
    var hasControlCharacter: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}

extension RegisteredKey {
    fileprivate func encode(into writer: inout ByteWriter) {
        writer.append(keyID)
        writer.append(epoch)
        writer.append(state.rawValue)
        writer.append(KeyringEntry.suite)
        writer.append(UInt16(0))
        writer.append(createdAt)
    }

    fileprivate init(parsing reader: inout ByteReader, _ path: String) throws(VaultError) {
        keyID = Array(try reader.take(16))
        epoch = try reader.integer()
        let state = KeyState(rawValue: try reader.integer())
        let suite: UInt8 = try reader.integer()
        let reserved: UInt16 = try reader.integer()
        createdAt = try reader.integer()
        guard let state, suite == KeyringEntry.suite else {
            throw VaultError(.unsupported, "open the vault", path, "Its register has a key of an unknown kind.")
        }
        guard reserved == 0, epoch > 0 else { throw .corrupt(path, "Its register's keys have invalid numbers.") }
        self.state = state
    }
}
