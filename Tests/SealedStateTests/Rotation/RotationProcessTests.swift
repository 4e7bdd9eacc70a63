import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of rotations beside writers, beside each other, and killed.
@Suite(.timeLimit(.minutes(20)))
struct RotationProcessTests {
    let sandbox: RotationSandbox

    init() throws { sandbox = try RotationSandbox() }

    // writers:   write, write, write, ............................ stopped
    // rotation:  ............ begin, reseal, walk, walk, complete
    @Test func valuesWrittenDuringARotationAreKeptAndEndInTheNewEpoch() throws {
        try sandbox.write(40)
        let writers = try (0..<4).map { try sandbox.child("rotate-writer", "w\($0)") }
        for writer in writers { #expect(try writer.readLine()?.hasPrefix("written 1 ") == true) }
        let rotation = try sandbox.child("rotate", "200")
        #expect(try rotation.finish().outputText.contains("completed 2"))
        for (number, writer) in writers.enumerated() {
            let result = try writer.finish()
            #expect(result.status == .exited(0))
            let last = try #require(result.outputText.split(separator: "\n").last).split(separator: " ")
            let snapshot = try sandbox.store.snapshot(of: ProbeRecord.self, named: "w\(number)")
            // Each write has a sequence: a lost update would show as a gap.
            #expect("\(snapshot.value.number)" == last[1])
            #expect("\(snapshot.provenance.sequence)" == last[2])
            #expect(last[1] == last[2])
            #expect(snapshot.provenance.epoch == 2)
        }
        for number in 0..<40 { #expect(try sandbox.store.read(ProbeRecord.self, named: "r\(number)").number == number) }
        #expect(try sandbox.epochs(40).allSatisfy { $0 == 2 })
        #expect(try sandbox.store.rotationStatus().keys.first?.blobCount == 0)
    }

    // writer:    lock, take the key of epoch 1 .................................... put the blob, unlock
    // rotation:  ................................ begin, walk 1, walk 2 (clean), wait ............... reseal, complete
    @Test func aWriterThatWasStoppedWithTheOldKeyInHandIsWaitedFor() throws {
        try sandbox.write(2)
        let place = try sandbox.store.places.place("new")
        let lock = try sandbox.store.reader.locks.lock(place.lock, timeout: .zero)
        let blob = try sandbox.forge("new", sequence: 1)
        let rotation = try sandbox.child("rotate")
        while let line = try rotation.readLine(), line != "walk 2" {}
        try sandbox.fixture.plant(blob, "new")
        lock.unlock()
        #expect(try rotation.finish().outputText.contains("completed 2 3"))
        #expect(try sandbox.header(ofRecord: "new").epoch == 2)
        #expect(try sandbox.fixture.probe("store-read", "new") == "666 0 1")
    }

    @Test func aWriterThatStaysStoppedEndsTheRotationForNow() throws {
        try sandbox.write(2)
        let place = try sandbox.store.places.place("new")
        let lock = try sandbox.store.reader.locks.lock(place.lock, timeout: .zero)
        #expect(code { try sandbox.rotate { $0.lockTimeout = .milliseconds(50) } } == .lockTimeout)
        #expect(try sandbox.epochs(2) == [2, 2])
        #expect(try sandbox.store.rotationStatus().isRotating)
        lock.unlock()
        #expect(try sandbox.rotate().isCompleted)
    }

    @Test func twoRotationsAtOnceAreOne() throws {
        try sandbox.write(30)
        for number in 0..<5 { try sandbox.plantStream("s\(number)", RotationSandbox.contents(200_000)) }
        let rotations = try (0..<3).map { _ in try sandbox.child("rotate") }
        for rotation in rotations {
            let output = try rotation.finish().outputText
            #expect(output.contains("completed"), "\(output)")
        }
        let status = try sandbox.store.rotationStatus()
        // A rotation that started after the others were done has begun another epoch.
        let active = try #require(status.activeEpoch)
        #expect(!status.isRotating)
        #expect(status.minimumEpoch == active)
        #expect(try sandbox.epochs(30).allSatisfy { $0 == active })
        for number in 0..<30 { #expect(try sandbox.store.read(ProbeRecord.self, named: "r\(number)").number == number) }
        for number in 0..<5 { #expect(try sandbox.openStream("s\(number)") == RotationSandbox.contents(200_000)) }
    }

    // rotation:  begin, reseal, … killed      begin or go on, reseal, … killed      …      goes on to the end
    @Test func aRotationThatIsKilledAnywhereIsContinued() throws {
        let count = 25
        let large = RotationSandbox.contents(3_000_000)
        try sandbox.write(count)
        try sandbox.plantStream("large", large)
        let sequences = try (0..<count).map { try sandbox.header(ofRecord: "r\($0)").sequence }
        var kills = 0
        for round in 0..<(isLongForm ? 200 : 12) {
            let rotation = try sandbox.child("rotate", "400")
            _ = try rotation.readLine()
            usleep(UInt32(round * 7919 % 70_000))
            rotation.kill(SIGKILL)
            if try rotation.finish().status == .signalled(SIGKILL) { kills += 1 }
            for number in 0..<count {
                #expect(try sandbox.store.read(ProbeRecord.self, named: "r\(number)").number == number)
            }
            #expect(try sandbox.openStream("large") == large)
        }
        #expect(kills > 0)
        #expect(try sandbox.rotate().isCompleted)
        let active = try #require(try sandbox.store.rotationStatus().activeEpoch)
        #expect(try sandbox.epochs(count).allSatisfy { $0 == active })
        #expect(try (0..<count).map { try sandbox.header(ofRecord: "r\($0)").sequence } == sequences)
        #expect(try sandbox.header("large").epoch == active)
    }
}

/// Tests of a rotation that is killed at any system call: every blob stays whole, and the next rotation completes.
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(30)))
struct RotationCrashFaultTests {
    @Test func killingARotationAtEverySystemCallLeavesEveryBlobWhole() throws {
        let sandbox = try RotationSandbox()
        try sandbox.write(2)
        try sandbox.plantStream("stream", RotationSandbox.contents(100_000))
        let traced = sandbox.fixture.traced(["rotate"])
        defer { traced.removeLog() }
        #expect(try traced.run().outputText.contains("completed"))
        var calls = try traced.calls(from: isLongForm ? nil : ".lock")
        // The last rename completes the rotation; the later calls inspect other processes, and differ each time.
        calls = Array(calls[...(try #require(calls.lastIndex { $0.name == "renameat" }))]).filter { call in
            call.name != "execve" && (isLongForm || call.isChange)
                && (call.name != "fcntl" || call.line.contains("SETLK"))
        }
        #expect(Set(calls.map(\.name)).isSuperset(of: ["write", "renameat", "linkat"]))
        for (index, call) in calls.enumerated() where isLongForm || index % 4 == 0 || call.name == "renameat" {
            let killed = try traced.run(killedAt: call)
            #expect(killed.status == .signalled(SIGKILL), "\(call)")
            try requireWhole(sandbox, "\(call)")
            #expect(try sandbox.rotate().isCompleted, "\(call)")
            try requireWhole(sandbox, "\(call)")
            let status = try sandbox.store.rotationStatus()
            #expect(status.keys.last?.blobCount == 3, "\(call)")
        }
    }

    private func requireWhole(_ sandbox: RotationSandbox, _ place: Comment) throws {
        for number in 0..<2 {
            let snapshot = try sandbox.store.snapshot(of: ProbeRecord.self, named: "r\(number)")
            #expect(snapshot.value.number == number && snapshot.provenance.sequence == 1, place)
        }
        #expect(try sandbox.openStream("stream") == RotationSandbox.contents(100_000), place)
    }
}
