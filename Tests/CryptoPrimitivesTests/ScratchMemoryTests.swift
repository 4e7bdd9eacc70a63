import CryptoPrimitives
import Glibc
import Testing

/// Tests that inspect stack memory after its release. Swift does not permit programs to rely on this, so each test runs
/// in a separate process, and a control shows that unwiped bytes are found.
@Suite struct ScratchMemoryTests {
    struct Refusal: Error {}

    @Test func itIsWipedWhenTheBodyReturns() async {
        await #expect(processExitsWith: .success) {
            exit(remains { use in ScratchMemory.withSecret(count: size) { use($0) } } == 0 ? 0 : 1)
        }
    }

    @Test func itIsWipedWhenTheBodyThrows() async {
        await #expect(processExitsWith: .success) {
            let found = remains { use in
                do throws(Refusal) {
                    try ScratchMemory.withSecret(count: size) { buffer throws(Refusal) in
                        use(buffer)
                        throw Refusal()
                    }
                } catch {}
            }
            exit(found == 0 ? 0 : 1)
        }
    }

    @Test func unwipedMemoryIsDetected() async {
        await #expect(processExitsWith: .success) {
            let found = remains { use in
                withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { use($0) }
            }
            exit(found > 0 ? 0 : 1)
        }
    }

    @Test func itHasTheSizeAskedFor() {
        for count in [0, 1, 64, 100_000] {
            #expect(ScratchMemory.withSecret(count: count) { $0.count } == count)
        }
    }
}

private let size = 1024
private let secret: UInt8 = 0xa7

/// Returns the longest run of the secret's bytes that remains in place after `allocate` has released its memory. Single
/// bytes may have that value by chance.
///
/// Only the second of two inspections counts: the first call of a function runs the dynamic linker, which overwrites
/// more of the stack than the inspected memory.
private func remains(_ allocate: ((UnsafeMutableRawBufferPointer) -> Void) -> Void) -> Int {
    _ = longestRow(allocate)
    return longestRow(allocate)
}

@inline(never)
private func longestRow(_ allocate: ((UnsafeMutableRawBufferPointer) -> Void) -> Void) -> Int {
    var place = UInt(0)
    var longest = 0
    var run = 0
    var offset: UInt = 0
    allocate { buffer in
        buffer.initializeMemory(as: UInt8.self, repeating: secret)
        place = UInt(bitPattern: buffer.baseAddress)
    }
    while offset < UInt(size) {
        guard let pointer = UnsafePointer<UInt8>(bitPattern: place &+ offset) else { return -1 }
        run = pointer.pointee == secret ? run &+ 1 : 0
        if run > longest { longest = run }
        offset = offset &+ 1
    }
    return longest > 4 ? longest : 0
}
