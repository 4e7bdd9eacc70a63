import Glibc
import KeyVault
import SealedState
import TestSupport
import Testing

/// Tests of signing out while the disk is full: a record, a setting and an item are deleted.
@Suite(
    .enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"), .timeLimit(.minutes(5)))
struct FullDiskDeletionTests {
    enum Shortage: CaseIterable, Sendable { case bytes, inodes, bytesAndState }

    /// A group on a file system of its own, with an object of each kind to delete.
    private struct Sandbox {
        let fixture: StoreFixture
        let disk: SmallFileSystem

        init(options: String) throws {
            fixture = try StoreFixture()
            disk = try SmallFileSystem(at: fixture.place.path, options: options)
            let store = try fixture.open { $0.durability = .durable }
            try store.write(ProbeRecord(number: 1, text: "secret"))
            let defaults = try store.defaults()
            for number in 0..<200 { try defaults.set("token \(number)", forKey: "key\(number)") }
            let (small, large): ([UInt8], [UInt8]) = ([1, 2, 3], .init(repeating: 5, count: 2000))
            for (account, value) in [("small", small), ("large", large)] {
                try value.withUnsafeBytes {
                    try store.vault.addItem(service: "s", account: account, value: $0)
                }
            }
        }
    }

    @Test(arguments: Shortage.allCases) func everythingCanBeDeletedOnAFullDisk(_ shortage: Shortage) throws {
        let sandbox = try Sandbox(options: "size=2m,nr_inodes=200")
        switch shortage {
        case .bytes: try sandbox.disk.fillBytes()
        case .inodes: try sandbox.disk.fillInodes()
        case .bytesAndState:
            try sandbox.disk.fillBytes()
            for leaf in ["Watermarks", "Places"] { try sandbox.disk.makeReadOnly(sandbox.fixture.place.path(leaf)) }
        }
        // Nothing else can be written.
        let large = ProbeRecord(number: 2, text: String(repeating: "x", count: 9000))
        #expect(code { try sandbox.fixture.open().write(large) } == .noSpace)

        // By programs that start after the disk is full.
        let store = try sandbox.fixture.open { $0.durability = .durable }
        try store.delete(ProbeRecord.self)
        #expect(code { _ = try store.read(ProbeRecord.self) } == .absent)
        let defaults = try store.defaults()
        try defaults.removeObject(forKey: "key7")
        #expect(try sandbox.fixture.open().defaults().string(forKey: "key7") == nil)
        #expect(try sandbox.fixture.open().defaults().string(forKey: "key8") == "token 8")
        for account in ["small", "large"] {
            try store.vault.deleteItem(service: "s", account: account)
            let refusal = #expect(throws: VaultError.self) {
                _ = try sandbox.fixture.open().vault.copyValue(service: "s", account: account)
            }
            #expect(refusal?.code == .itemNotFound)
        }
    }

    @Test func anUnloggedDeletionIsMadeAndReported() throws {
        let sandbox = try Sandbox(options: "size=2m,nr_inodes=200")
        #expect(try sandbox.fixture.open().vault.deleteItem(service: "s", account: "small").isLogged)
        let log = sandbox.fixture.place.path("Vaults/\(sandbox.fixture.group)/access.log")
        try sandbox.disk.makeReadOnly(log)
        try sandbox.disk.fillBytes()
        let vault = try sandbox.fixture.open().vault
        #expect(throws: VaultError.self) {
            try [UInt8](repeating: 1, count: 1).withUnsafeBytes { value in
                try vault.addItem(service: "s", account: "new", value: value)
            }
        }
        #expect(try !vault.deleteItem(service: "s", account: "large").isLogged)
        #expect(try vault.readAccessLog().unloggedCount == 1)
        #expect(try vault.items().isEmpty)
    }

    /// The space for a rotation is known, and a lack of it is reported before the vault gets a new key.
    @Test func aRotationThatFindsNoRoomChangesNothing() throws {
        let sandbox = try Sandbox(options: "size=2m,nr_inodes=200")
        let store = try sandbox.fixture.open()
        #expect(try store.rotationSize() >= 4096)
        try sandbox.disk.fillBytes()
        let epoch = try store.rotationStatus().activeEpoch
        let refused = refusal { try store.rotate() }
        #expect(refused?.code == .noSpace)
        #expect(refused?.advice.contains("bytes") == true)
        #expect(try store.rotationStatus().activeEpoch == epoch)
        let rekey = #expect(throws: VaultError.self) { _ = try store.vault.rekey() }
        #expect(rekey?.underlying?.code == .noSpace)
        #expect(store.vault.period == 1)
    }
}
