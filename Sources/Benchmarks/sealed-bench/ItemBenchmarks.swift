import AppGroups
import CBaseline
import CryptoPrimitives
import Glibc
import KeyVault
import Sealing

/// A vault with many items: the costs of opening it, of a find in it and of its rekey.
///
/// The peer reads a file of the same size and opens its sealed content, with the calls of record opening; it has no
/// lock, watermark, access log or order.
struct ItemBenchmarks {
    private static let count = 10_000
    private static let valueSize = 32
    private static let opening = "open a vault of 10,000 items"
    private static let finding = "find one of 10,000 items"
    private static let rekeying = "rekey a vault of 10,000 items"

    private let workspace: Workspace

    /// - Parameter workspace: A separate one, since no other measurement shall open so large a vault.
    init(_ workspace: Workspace) { self.workspace = workspace }

    func run(in runner: inout Runner) throws {
        guard runner.isWanted(Self.opening, Self.finding, Self.rekeying) else { return }
        let group = AccessGroup(workspace.group)
        let vault = try Vault.openOrCreate(group, in: workspace.home)
        try fill(vault)
        let rounds = runner.options.rounds
        try runner.measure(Self.opening) { operation in
            let peer = try RawBlob(in: workspace.path, size: try fileSize(vault.path))
            let comparison = try Comparison(
                rounds: rounds, ours: { _ = try Vault.open(group, in: workspace.home) }, peer: { try peer.read() })
            return figure(operation, comparison, target: 0.020)
        }
        try runner.measure(Self.finding) { operation in
            let peer = try RawBlob(in: workspace.path, size: Self.valueSize)
            var number = 0
            let comparison = try Comparison(
                rounds: rounds,
                ours: {
                    // Far apart, so that consecutive searches touch different entries.
                    number = (number + 7919) % Self.count
                    let (service, account) = Self.name(number)
                    let size = try vault.withValue(service: service, account: account) { $0.count }
                    guard size == Self.valueSize else { throw BenchmarkFailure("an item has another value") }
                }, peer: { try peer.read() })
            return figure(operation, comparison, target: 0.000_050)
        }
        try rekey(vault, in: &runner)
    }

    /// Compares a rekey with one change of the same vault, which writes the same file once.
    private func rekey(_ vault: Vault, in runner: inout Runner) throws {
        let rounds = max(3, runner.options.rounds / 10)
        try runner.measure(Self.rekeying) { operation in
            let comparison = try Comparison(
                rounds: rounds, slice: 0, ours: { try vault.rekey() },
                peer: {
                    let value = [UInt8](repeating: 1, count: Self.valueSize)
                    try value.withRawBytes { try vault.addItem(service: "added", account: "one", value: $0) }
                }, after: { _ = try? vault.deleteItem(service: "added", account: "one") })
            return Finding(
                operation, comparison, against: "adding one item", target: nil, note: "against adding one item")
        }
    }

    private func figure(_ operation: String, _ comparison: Comparison, target: Double) -> Finding {
        let hundredths = Int((comparison.ratio * 100).rounded())
        return Finding(
            operation, comparison.ours.median, target: target,
            note:
                "\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10)x of C reading and opening as many bytes"
        )
    }

    private static func name(_ number: Int) -> (service: String, account: String) {
        ("service-\(number % 100).example.org", "account-\(number)")
    }

    private func fill(_ vault: Vault) throws {
        let values = SecureRandom.bytes(count: Self.count * Self.valueSize)
        try values.withRawBytes { values in
            try vault.addItems(
                (0..<Self.count).map { number in
                    let (service, account) = Self.name(number)
                    let start = number * Self.valueSize
                    return NewItem(
                        service: service, account: account, label: "an item", accessibility: .afterFirstUnlock,
                        value: UnsafeRawBufferPointer(rebasing: values[start..<start + Self.valueSize]))
                })
        }
    }

    private func fileSize(_ path: String) throws -> Int {
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw BenchmarkFailure("\(path) is missing") }
        return Int(facts.st_size)
    }
}

/// A file with one sealed blob for the C side.
final class RawBlob {
    private static let leaf = "raw.sealed"
    private let directory: Int32
    private let place: cbaseline_place

    init(in path: String, size: Int) throws {
        let context = BlobContext(group: "group.org.example.bench", kind: .record, name: "raw")
        place = cbaseline_place(context, try SealingKey.random(epoch: 1), schemaVersion: 1)
        directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let plaintext = [UInt8](repeating: 0x5a, count: size)
        try withUnsafePointer(to: place) { place in
            var sealedSize = 0
            let blob = cbaseline_seal(place, 1, plaintext, size, &sealedSize)
            defer { cbaseline_discard(blob) }
            let file = openat(directory, Self.leaf, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            defer { close(file) }
            guard file >= 0, write(file, blob, sealedSize) == sealedSize else {
                throw BenchmarkFailure("\(path)/\(Self.leaf) cannot be written")
            }
        }
    }

    deinit { close(directory) }

    @inline(never)
    func read() throws {
        try withUnsafePointer(to: place) { place in
            var size = 0
            guard let plaintext = cbaseline_read(place, directory, Self.leaf, &size) else {
                throw BenchmarkFailure("the C side could not read")
            }
            cbaseline_forget(plaintext, size)
        }
    }
}
