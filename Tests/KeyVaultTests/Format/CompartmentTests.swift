import CryptoPrimitives
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of a compartment's parts, and of the data of a later version that a reader keeps.
@Suite struct CompartmentTests {
    private let fixture: VaultFixture

    init() throws { fixture = try VaultFixture() }

    // MARK: State, secrets and names

    private func fullState() -> CompartmentState {
        var state = CompartmentState()
        state.rotation.minimumEpoch = 2
        state.rotation.stage = .completed
        (state.rotation.began, state.rotation.completed) = (3, 4)
        state.logHead = AccessLogHead(count: 6, code: Bytes32(filling: { SecureRandom.fill($0) }))
        state.logKey = 5
        return state
    }

    private func parsed(_ bytes: [UInt8], _ role: CompartmentRole = .service) throws(VaultError) -> CompartmentState {
        try CompartmentState(parsing: bytes, role, path: "vault")
    }

    @Test func aStateIsReadBack() throws {
        for state in [CompartmentState(), fullState()] {
            #expect(state.encoded(.service).count == 88)
            #expect(try parsed(state.encoded(.service)) == state)
        }
        // The register contains the rotation of the other class.
        var state = fullState()
        let bytes = state.encoded(.person)
        #expect(bytes.prefix(24).allSatisfy { $0 == 0 })
        state.rotation = RotationFields()
        #expect(try parsed(bytes, .person) == state)
    }

    @Test(arguments: [0, 87, 89]) func aStateOfAnotherSizeIsCorrupt(size: Int) {
        let bytes = Array((fullState().encoded(.service) + [0]).prefix(size))
        #expect(code { () throws(VaultError) in _ = try parsed(bytes) } == .corrupt)
    }

    @Test(arguments: [68, 87]) func bytesThatHaveToBeZeroAre(offset: Int) {
        var bytes = fullState().encoded(.service)
        bytes[offset] = 1
        let bad = bytes
        #expect(code { () throws(VaultError) in _ = try parsed(bad) } == .corrupt)
    }

    @Test func secretsAreBoundToTheirVaultKindAndNumber() throws {
        let (root, vaultID) = (RootKey.random(), SecureRandom.bytes(count: 16))
        let secret = SecureRandom.bytes(count: 32)
        var table = SecretTable()
        for (kind, number) in [(SecretEntry.Kind.logKey, UInt32(2)), (.watermarkKey, 0), (.logKey, 1)] {
            secret.withRawBytes {
                table.set(SecretEntry(kind, number: number, $0, vaultID: vaultID, root: root))
            }
        }
        let read = try SecretTable(parsing: table.encoded, .service, path: "vault")
        #expect(read == table && read.entries.map(\.number) == [0, 1, 2])
        #expect(read.last(.logKey)?.number == 2)
        let entry = try #require(read[.logKey, 2])
        func opens(_ entry: SecretEntry, _ vaultID: [UInt8], _ root: RootKey) -> Bool {
            (try? entry.secret(vaultID: vaultID, root: root, path: "").withUnsafeBytes { Array($0) } == secret) == true
        }
        #expect(opens(entry, vaultID, root))
        #expect(!opens(entry, SecureRandom.bytes(count: 16), root))
        #expect(!opens(entry, vaultID, .random()))
        #expect(opens(try entry.rewrapped(vaultID: vaultID, from: root, to: root, path: ""), vaultID, root))
        // The loop covers every bit: kind, number, id and the wrapped secret.
        for bit in 0..<96 * 8 {
            var bytes = table.encoded
            bytes[96 + bit / 8] ^= 1 << UInt8(bit % 8)
            guard let changed = try? SecretTable(parsing: bytes, .service, path: "") else { continue }
            #expect(!opens(changed.entries[1], vaultID, root), "bit \(bit)")
        }
    }

    @Test func secretsOutOfOrderOrTwiceAreCorrupt() throws {
        let (root, vaultID) = (RootKey.random(), SecureRandom.bytes(count: 16))
        let entries = [UInt32(1), 2].map { number in
            var table = SecretTable()
            [UInt8](repeating: 1, count: 32).withRawBytes {
                table.set(SecretEntry(.logKey, number: number, $0, vaultID: vaultID, root: root))
            }
            return table.encoded
        }
        func refusal(_ bytes: [UInt8]) -> VaultError.Code? {
            code { () throws(VaultError) in _ = try SecretTable(parsing: bytes, .service, path: "") }
        }
        #expect(refusal(entries[0] + entries[1]) == nil)
        #expect(refusal(entries[1] + entries[0]) == .corrupt)
        #expect(refusal(entries[0] + entries[0]) == .corrupt)
        #expect(refusal(entries[0].dropLast()) == .corrupt)
        #expect(refusal([9] + entries[0].dropFirst()) == .unsupported)
    }

    @Test func aNameListIsTheOneThatTheRegisterMeans() throws {
        let tagger = NameTagger(watermarkKey: SecretBytes.random(count: 32))
        var names = NameList()
        for name in ["a", "b", "c"] {
            let isNew = (names.insert(tagger.tag(record: name)), names.insert(tagger.tag(record: name)))
            #expect(isNew == (true, false))
        }
        var person = Register.Person()
        person.nameCount = 3
        person.namesDigest = Register.digest(ofNames: names.encoded)
        #expect(try NameList(parsing: names.encoded, register: person, path: "").tags == names.tags)
        let bytes = names.encoded
        let others = [
            Array(bytes.dropLast(16)), bytes + bytes.prefix(16), Array(bytes.suffix(16) + bytes.prefix(32)), [],
        ]
        for other in others {
            #expect(
                code { () throws(VaultError) in _ = try NameList(parsing: other, register: person, path: "") }
                    == .corrupt)
        }
    }

    @Test func recordsAndItemsOfOneSpellingHaveDifferentTags() throws {
        let key = SecretBytes.random(count: 32)
        let tagger = NameTagger(watermarkKey: key)
        let tags = try [
            tagger.tag(ItemForge.name("ab", "c")), tagger.tag(ItemForge.name("a", "bc")), tagger.tag(record: "abc"),
            tagger.tag(record: "\u{2}\u{0}abc"), NameTagger(watermarkKey: .random(count: 32)).tag(record: "abc"),
        ]
        #expect(Set(tags).count == tags.count)
        #expect(try NameTagger(watermarkKey: key).tag(ItemForge.name("ab", "c")) == tags[0])
    }

    // MARK: Later versions

    /// Returns the vault's file with one additional part.
    private func withPart(_ number: UInt16, _ contents: [UInt8], isCritical: Bool, of vault: Vault) throws -> [UInt8] {
        let contents0 = try vault.current()
        let service = try contents0.service
        let head = service.head
        var parts: [(entry: PartEntry, bytes: [UInt8])] = []
        for entry in head.parts { parts.append((entry, try #require(try service.file.sealedPart(entry.number)))) }
        let sealing = try PartSealing(vault.place, .service, period: head.period, root: vault.keys.service)
        parts.append(
            sealing.seal(
                contents, as: PartNumber(rawValue: number), isCritical: isCritical, generation: head.generation, at: 1))
        return try CompartmentImage(
            role: .service, generation: head.generation, vaultID: head.vaultID, period: head.period, slots: head.slots,
            register: head.register?.signedBytes ?? [], parts: parts
        ).file(root: vault.keys.service, path: "")
    }

    @Test func aPartOfALaterVersionIsKeptThroughChangesAndRekeys() throws {
        let vault = try fixture.create()
        try SystemFile.write(fixture.path, try withPart(40, [1, 2, 3], isCritical: false, of: vault))
        let number = PartNumber(rawValue: 40)
        func part(_ vault: Vault) throws -> (contents: [UInt8], sealed: [UInt8]?) {
            let service = try vault.current().service
            let sealing = try PartSealing(vault.place, .service, period: service.head.period, root: vault.keys.service)
            return (try service.opened(number, sealing), try service.file.sealedPart(number))
        }
        let reopened = try fixture.open()
        let before = try part(reopened)
        #expect(before.contents == [1, 2, 3])
        try reopened.add("s", "a")
        try reopened.addSlot(.recipient(try Identity.random().recipient, unattended: true))
        let changed = try part(reopened)
        #expect(changed.contents == [1, 2, 3] && changed.sealed == before.sealed)
        try reopened.rekey()
        let rekeyed = try part(reopened)
        #expect(rekeyed.contents == [1, 2, 3] && rekeyed.sealed != before.sealed)
        #expect(try part(try fixture.open()).contents == [1, 2, 3])
    }

    @Test func aCriticalPartOfALaterVersionIsUnsupported() throws {
        let vault = try fixture.create()
        try SystemFile.write(fixture.path, try withPart(40, [1], isCritical: true, of: vault))
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .unsupported)
    }

    // MARK: Parts

    @Test func aPartBelongsToItsFileItsPeriodAndItsNumber() throws {
        let place = fixture.place
        let root = RootKey.random()
        let sealing = try PartSealing(place, .service, period: 2, root: root)
        let (entry, sealed) = sealing.seal([1, 2], as: .keyring, generation: 3, at: 1)
        #expect(try sealing.open(sealed, entry).bytes == [1, 2])
        func refusal(_ role: CompartmentRole, _ period: UInt32, _ root: RootKey, _ entry: PartEntry) -> VaultError.Code?
        {
            code { () throws(VaultError) in
                _ = try PartSealing(place, role, period: period, root: root).open(sealed, entry)
            }
        }
        let other = PartEntry(
            number: .items, isCritical: true, sealedSize: entry.sealedSize, commitment: entry.commitment)
        let uncommitted = PartEntry(number: .keyring, isCritical: true, sealedSize: entry.sealedSize, commitment: .zero)
        #expect(refusal(.service, 2, root, entry) == nil)
        #expect(refusal(.person, 2, root, entry) == .corrupt)
        #expect(refusal(.service, 1, root, entry) == .corrupt)
        #expect(refusal(.service, 2, .random(), entry) == .corrupt)
        #expect(refusal(.service, 2, root, other) == .corrupt)
        #expect(refusal(.service, 2, root, uncommitted) == .corrupt)
    }

    /// A part of an earlier write has a valid seal. Only the table and its code determine the intended one.
    @Test func aPartOfAnEarlierWriteIsRefused() throws {
        let vault = try fixture.create()
        try vault.add("s", "a")
        let old = try SystemFile.read(fixture.path)
        try vault.update("s", "a", value: [9, 9, 9])
        var new = try SystemFile.read(fixture.path)
        #expect(old.count == new.count)
        let head = try CompartmentHead(parsing: new, path: "")
        let offset = head.offset(of: .items)
        let size = try #require(head.entry(.items)).sealedSize
        new.replaceSubrange(offset..<offset + size, with: old[offset..<offset + size])
        try SystemFile.write(fixture.path, new)
        let refusal = code { () throws(VaultError) in _ = try fixture.open().value("s", "a") }
        #expect(refusal == .corrupt)
    }

    /// An unchanged part keeps its bytes, which shows that only changed parts are sealed.
    @Test func aChangeSealsOnlyWhatItChanges() throws {
        let vault = try fixture.create()
        try vault.add("s", "a")
        func commitments() throws -> [PartNumber: Bytes32] {
            let head = try CompartmentHead(parsing: SystemFile.read(fixture.path), path: "")
            return Dictionary(uniqueKeysWithValues: head.parts.map { ($0.number, $0.commitment) })
        }
        let before = try commitments()
        try vault.update("s", "a", value: [1])
        let after = try commitments()
        #expect(Set(before.keys.filter { before[$0] != after[$0] }) == [.state, .items])
    }
}
