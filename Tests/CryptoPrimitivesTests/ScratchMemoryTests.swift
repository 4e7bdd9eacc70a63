import CryptoPrimitives
import Glibc
import Testing

/// Looks at stack memory that was given back. That is no access Swift allows a program to rely on, so each test looks
/// in a process of its own, and a control shows that what is not wiped is seen.
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

    @Test func memoryThatNobodyWipesIsSeen() async {
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

/// The longest row of the secret's bytes that is still where it was after `allocate` has given its memory back. Chance may
/// leave single bytes of that value.
///
/// The second of two looks counts: the first call of a function goes through the dynamic linker, which writes over more
/// of the stack than the memory that is looked for.
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
