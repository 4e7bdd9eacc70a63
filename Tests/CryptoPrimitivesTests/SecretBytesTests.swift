import CryptoPrimitives
import Glibc
import TestSupport
import Testing

/// Tests of `SecretBytes`. Operations that would end or disturb the tests run in a separate process.
@Suite struct SecretBytesTests {
    struct Refusal: Error, Equatable {}

    @Test(arguments: [0, 1, 32, 4096, 5000])
    func itHoldsWhatWasWritten(size: Int) {
        let bytes = SecureRandom.bytes(count: size)
        let secret = bytes.withRawBytes { SecretBytes(copying: $0) }
        let (count, copy) = (secret.count, copied(secret))
        #expect(count == size)
        #expect(copy == bytes)
    }

    @Test func unwrittenBytesAreZero() {
        let secret = SecretBytes(count: 64) { $0[5] = 1 }
        let copy = copied(secret)
        #expect(copy.enumerated().allSatisfy { $1 == ($0 == 5 ? 1 : 0) })
    }

    @Test func randomSecretsDiffer() {
        let one = SecretBytes.random(count: 32)
        let two = SecretBytes.random(count: 32)
        let areEqual = one.isEqual(to: two)
        #expect(!areEqual)
    }

    @Test func equalityIsOfSizeAndBytes() {
        let one = SecretBytes(count: 32) { $0[31] = 1 }
        let same = SecretBytes(count: 32) { $0[31] = 1 }
        let longer = SecretBytes(count: 33) { $0[31] = 1 }
        let other = SecretBytes(count: 32) { $0[0] = 1 }
        let answers = [one.isEqual(to: same), one.isEqual(to: longer), one.isEqual(to: other)]
        #expect(answers == [true, false, false])
    }

    @Test func aFillThatThrowsThrowsThat() {
        #expect(throws: Refusal()) {
            _ = try SecretBytes(count: 32) { _ throws(Refusal) in throw Refusal() }
        }
    }

    /// A size beyond any address space.
    private static let impossible = 1 << 48

    @Test func missingMemoryIsAnErrorOfWhoCanThrowIt() {
        #expect(throws: CryptoError(.outOfMemory, "secret memory")) {
            _ = try SecretBytes(count: Self.impossible) { _ throws(CryptoError) in }
        }
        #expect(throws: CryptoError(.outOfMemory, "secret memory")) {
            try SecretPool.shared.withBytes(
                count: Self.impossible, filling: { _ throws(CryptoError) in }, { _ throws(CryptoError) in })
        }
    }

    @Test func missingMemoryEndsAProcessThatCannotReportIt() async {
        await #expect(processExitsWith: .failure) { _ = SecretBytes(count: 1 << 48) { _ in } }
    }

    @Test func secretsOfARegionShareItsMappingsAndOutliveIt() async {
        await #expect(processExitsWith: .success) {
            _ = SecretBytes.random(count: 32)
            let before = mappings()
            let secrets = parts(of: 4096)
            guard mappings() < before + 8 else { exit(1) }
            for (number, secret) in secrets.enumerated()
            where secret.bytes != [UInt8](repeating: UInt8(number & 255), count: 32) {
                exit(2)
            }
            exit(0)
        }
    }

    @Test func aRegionIsFreedWithTheLastOfItsSecrets() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<8 { _ = parts(of: 4) }
            let before = mappings()
            for _ in 0..<2000 { _ = parts(of: 4) }
            exit(mappings() < before + 100 ? 0 : 1)
        }
    }

    @Test func aWriteAfterwardsEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            let secret = SecretBytes.random(count: 32)
            secret.withUnsafeBytes { UnsafeMutableRawBufferPointer(mutating: $0)[0] = 1 }
        }
    }

    @Test func aReadBehindItsEndEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            let secret = SecretBytes.random(count: 4096)
            let byte = secret.withUnsafeBytes { $0.baseAddress?.load(fromByteOffset: 4096, as: UInt8.self) }
            print(byte ?? 0)
        }
    }

    @Test func aReadAfterItsEndEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            var pointer: UnsafeRawPointer?
            do {
                let secret = SecretBytes.random(count: 32)
                pointer = secret.withUnsafeBytes { $0.baseAddress }
            }
            print(pointer?.load(as: UInt8.self) ?? 0)
        }
    }

    /// The control of the three tests above: the same calls without the misuse succeed.
    @Test func properUseEndsWell() async {
        await #expect(processExitsWith: .success) {
            let secret = SecretBytes.random(count: 4096)
            print(secret.withUnsafeBytes { $0.reduce(0) { $0 ^ $1 } })
        }
    }

    /// A double free would end the process, and without a free the mappings would accumulate.
    @Test func memoryIsFreedOnceWhetherOrNotFillThrows() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<8 { _ = SecretBytes.random(count: 32) }
            let before = mappings()
            for _ in 0..<2000 {
                _ = SecretBytes.random(count: 32)
                do throws(Refusal) {
                    _ = try SecretBytes(count: 32) { _ throws(Refusal) in throw Refusal() }
                } catch {}
            }
            exit(mappings() < before + 100 ? 0 : 1)
        }
    }
}

/// Returns a copy of the contents, which only a test may do.
func copied(_ secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

/// Returns the number of mappings of this process.
private func mappings() -> Int { (try? SystemFile.read("/proc/self/maps"))?.count { $0 == 10 } ?? .max }

/// A secret that an array can contain.
private final class Part: Sendable {
    private let secret: SecretBytes
    init(_ secret: consuming SecretBytes) { self.secret = secret }
    var bytes: [UInt8] { copied(secret) }
}

/// Returns secrets of 32 bytes in one region, each of which contains its number.
private func parts(of count: Int) -> [Part] {
    let region = SecretRegion(
        SecretBytes(count: 32 * count) { memory in
            for index in memory.indices { memory[index] = UInt8(index / 32 & 255) }
        })
    return (0..<count).map { Part(region.secret(at: 32 * $0, count: 32)) }
}
