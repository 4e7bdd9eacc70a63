import Glibc
import StateImport
import TestSupport
import Testing

/// Tests of a move that is killed at any system call: the plaintext or its sealed form remains, whole, and a second
/// move completes it.
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(30)))
struct PlaintextImportKillFaultTests {
    @Test(arguments: PlaintextKind.allCases) func killedAnywhereItContinuesAndNothingIsLostOrDoubled(
        _ kind: PlaintextKind
    ) throws {
        let sandbox = try PlaintextImportSandbox()
        let bytes = try kind.contents()
        var ends: Set<String> = []
        for (index, call) in try MovedPlace.calls(kind, sandbox).enumerated() {
            let place = MovedPlace(kind: kind, name: "f\(index)", sandbox: sandbox)
            try sandbox.file(place.name, bytes)
            let traced = place.traced
            defer { traced.removeLog() }
            #expect(try traced.run(killedAt: call).status == .signalled(SIGKILL), "\(call)")

            let plain = try place.plaintext()
            let sealed = try place.isSealed(bytes)
            #expect(plain.allSatisfy { $0 == bytes } && plain.count <= 1, "\(call)")
            #expect(!plain.isEmpty || sealed, "\(call)")
            ends.insert("\(plain.isEmpty ? "" : "plaintext")\(sealed ? " sealed" : "")")

            #expect(["sealed", "alreadySealed", "gone"].contains(try place.run()), "\(call)")
            let isSealed = try place.isSealed(bytes)
            #expect(try place.plaintext().isEmpty && isSealed, "\(call)")
            let sequence = try place.sequence()
            #expect(sequence == nil || sequence == 1, "\(call)")
            try place.expectClean(call)
        }
        // All three outcomes occurred: the sweep crossed the sealing and the removal.
        #expect(ends == ["plaintext", "plaintext sealed", " sealed"])
    }
}
