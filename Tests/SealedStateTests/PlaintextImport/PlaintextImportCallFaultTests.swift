import Glibc
import StateImport
import TestSupport
import Testing

/// Tests of a move whose system calls fail: the plaintext remains until it is sealed, and a second move completes it.
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(30)))
struct PlaintextImportCallFaultTests {
    @Test(arguments: isLongForm ? PlaintextKind.allCases : [.record, .file])
    func aFailureOfAnyCallLosesNothing(_ kind: PlaintextKind) throws {
        let sandbox = try PlaintextImportSandbox()
        let bytes = try kind.contents()
        var answers: Set<String> = []
        for (index, call) in try MovedPlace.calls(kind, sandbox).enumerated() {
            let place = MovedPlace(kind: kind, name: "f\(index)", sandbox: sandbox)
            try sandbox.file(place.name, bytes)
            let traced = place.traced
            defer { traced.removeLog() }
            let failed = try traced.run(failing: call, with: "EIO")
            answers.insert(failed.outputText.trimmingNewlines)
            let plain = try place.plaintext()
            let sealed = try place.isSealed(bytes)
            #expect(plain.allSatisfy { $0 == bytes } && plain.count <= 1, "\(call)")
            #expect(!plain.isEmpty || sealed, "\(call)")
            // If the move reported success, it is complete.
            if failed.exitCode == 0 { #expect(plain.isEmpty && sealed, "\(call)") }

            #expect(["sealed", "alreadySealed", "gone"].contains(try place.run()), "\(call)")
            let isSealed = try place.isSealed(bytes)
            #expect(try place.plaintext().isEmpty && isSealed, "\(call)")
            try place.expectClean(call)
        }
        // Before, at and after the removal.
        #expect(answers.isSuperset(of: ["sourceKept", "durabilityUnknown"]), "\(answers)")
    }

    @Test func aFileThatMayNotBeRemovedKeepsItsName() throws {
        for call in ["unlinkat", "renameat2"] {
            let (sandbox, place) = try sandboxWithFile()
            let traced = place.traced
            defer { traced.removeLog() }
            let result = try traced.run(injecting: ["\(call):error=EACCES"])
            #expect(result.outputText == "sourceKept\n", "\(call)")
            #expect(try SystemFile.exists(sandbox.path("f")) && sandbox.plaintext.count == 1, "\(call)")
            #expect(try place.isSealed(place.kind.contents()), "\(call)")
        }
    }

    /// Some file systems cannot rename without replacing.
    @Test func whereNothingCanBeSetAsideItIsRemovedAnyway() throws {
        let (_, place) = try sandboxWithFile()
        let traced = place.traced
        defer { traced.removeLog() }
        #expect(try traced.run(injecting: ["renameat2:error=EINVAL"]).outputText == "sealed\n")
        #expect(try place.plaintext().isEmpty)
        #expect(try place.isSealed(place.kind.contents()))
    }

    private func sandboxWithFile() throws -> (PlaintextImportSandbox, MovedPlace) {
        let sandbox = try PlaintextImportSandbox()
        _ = try sandbox.fixture.open()
        let place = MovedPlace(kind: .record, name: "f", sandbox: sandbox)
        try sandbox.file("f", place.kind.contents())
        return (sandbox, place)
    }
}
