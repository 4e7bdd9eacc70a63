import CryptoPrimitives
import Glibc
import TestSupport
import Testing

@Suite struct SecretPoolTests {
    struct Refusal: Error, Equatable {}

    /// Fills a loan with a secret and returns its address.
    @discardableResult
    private func use(_ pool: SecretPool, count: Int) -> UInt {
        pool.withBytes(count: count, filling: write) { bytes in
            #expect(bytes.allSatisfy { $0 == secret })
            return address(bytes)
        }
    }

    /// Returns `true` if an unwritten loan contains zeros, and its address.
    private func look(_ pool: SecretPool, count: Int) -> (isZero: Bool, address: UInt) {
        pool.withBytes(count: count, filling: { _ in }, { ($0.allSatisfy { $0 == 0 }, address($0)) })
    }

    @Test(arguments: [0, 1, 32, 4095, 4096, 4097, 1 << 20])
    func itLendsWhatWasWritten(size: Int) {
        let value = SecureRandom.bytes(count: size)
        let pool = SecretPool(keeping: 1)
        let copy = pool.withBytes(
            count: size, filling: { buffer in value.withRawBytes { buffer.copyMemory(from: $0) } }, { Array($0) })
        #expect(copy == value)
    }

    @Test(arguments: [1, 100, 4096])
    func aPageComesBackWipedAndIsUsedAgain(size: Int) {
        let pool = SecretPool(keeping: 1)
        let first = use(pool, count: size)
        #expect(pool.idleCount == 1)
        let second = look(pool, count: size)
        #expect(second == (true, first))
    }

    @Test func aLargerLoanSeesNothingOfASmallerOne() {
        let pool = SecretPool(keeping: 1)
        use(pool, count: 64)
        #expect(look(pool, count: 4096).isZero)
        use(pool, count: 4096)
        #expect(look(pool, count: 4096).isZero)
    }

    /// The idle page is still mapped. Only a test in a separate process may read it.
    @Test func itIsWipedWhenItComesBackAndNotOnlyWhenItIsLentAgain() async {
        await #expect(processExitsWith: .success) {
            let pool = SecretPool(keeping: 1)
            let place = pool.withBytes(count: 4096, filling: write, { $0 })
            exit(place.allSatisfy { $0 == 0 } ? 0 : 1)
        }
    }

    @Test func itIsWipedAndReturnedAfterAThrow() {
        let pool = SecretPool(keeping: 1)
        #expect(throws: Refusal()) {
            try pool.withBytes(
                count: 10,
                filling: { buffer throws(Refusal) in
                    write(buffer)
                    throw Refusal()
                }, { _ throws(Refusal) in })
        }
        #expect(pool.idleCount == 1)
        #expect(look(pool, count: 4096).isZero)
        #expect(throws: Refusal()) {
            try pool.withBytes(
                count: 20, filling: { buffer throws(Refusal) in write(buffer) },
                { _ throws(Refusal) in throw Refusal() })
        }
        #expect(pool.idleCount == 1)
        #expect(look(pool, count: 4096).isZero)
    }

    @Test func loansWithinLoansHavePagesOfTheirOwnAndABoundedNumberIsKept() {
        let pool = SecretPool(keeping: 2)
        func nest(_ depth: Int, _ seen: Set<UInt>) -> Int {
            guard depth > 0 else { return seen.count }
            return pool.withBytes(count: 8, filling: write, { nest(depth - 1, seen.union([address($0)])) })
        }
        #expect(nest(5, []) == 5)
        #expect(pool.idleCount == 2)
    }

    @Test func loansOfManyThreadsAreApart() throws {
        let pool = SecretPool(keeping: 2)
        let outcomes = try concurrently(8) { number in
            let byte = UInt8(number + 1)
            return (0..<500).allSatisfy { _ in
                pool.withBytes(count: 4096) { buffer in
                    buffer.initializeMemory(as: UInt8.self, repeating: byte)
                    sched_yield()
                } _: { bytes in
                    bytes.allSatisfy { $0 == byte }
                }
            }
        }
        #expect(try outcomes.map { try $0.get() } == [Bool](repeating: true, count: 8))
        #expect((1...2).contains(pool.idleCount))
    }

    @Test func valuesLargerThanAPageAreNotKept() {
        let pool = SecretPool(keeping: 2)
        use(pool, count: SecretPool.pageSize + 1)
        #expect(pool.idleCount == 0)
    }

    @Test func aReadBehindItsEndEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            SecretPool(keeping: 1).withBytes(count: 100, filling: write) { bytes in
                print(bytes.baseAddress?.load(fromByteOffset: 100, as: UInt8.self) ?? 0)
            }
        }
    }
}

private let secret: UInt8 = 0xa7

private func write(_ buffer: UnsafeMutableRawBufferPointer) {
    buffer.initializeMemory(as: UInt8.self, repeating: secret)
}

private func address(_ bytes: UnsafeRawBufferPointer) -> UInt { UInt(bitPattern: bytes.baseAddress) }
