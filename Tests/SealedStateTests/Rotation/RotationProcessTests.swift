import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of rotations beside writers, beside each other, and killed.
@Suite(.timeLimit(.minutes(20)))
struct RotationProcessTests {
    let yard: RotationYard

    init() throws { yard = try RotationYard() }

    // writers:   write, write, write, ............................ stopped
    // rotation:  ............ begin, reseal, walk, walk, complete
    @Test func whatIsWrittenDuringARotationIsKeptAndEndsInTheNewEpoch() throws {
        try yard.write(40)
        let writers = try (0..<4).map { try yard.child("rotate-writer", "w\($0)") }
        for writer in writers { #expect(try writer.readLine()?.hasPrefix("written 1 ") == true) }
        let rotation = try yard.child("rotate", "200")
        #expect(try rotation.finish().outputText.contains("completed 2"))
        for (number, writer) in writers.enumerated() {
            let result = try writer.finish()
            #expect(result.status == .exited(0))
            let last = try #require(result.outputText.split(separator: "\n").last).split(separator: " ")
            let snapshot = try yard.store.snapshot(of: ProbeRecord.self, named: "w\(number)")
            // Each write has a sequence: a lost update would show as a gap.
            #expect("\(snapshot.value.number)" == last[1])
            #expect("\(snapshot.provenance.sequence)" == last[2])
            #expect(last[1] == last[2])
            #expect(snapshot.provenance.epoch == 2)
        }
        for number in 0..<40 { #expect(try yard.store.read(ProbeRecord.self, named: "r\(number)").number == number) }
        #expect(try yard.epochs(40).allSatisfy { $0 == 2 })
        #expect(try yard.store.rotationStatus().keys.first?.blobCount == 0)
    }

    // writer:    lock, take the key of epoch 1 .................................... put the blob, unlock
    // rotation:  ................................ begin, walk 1, walk 2 (clean), wait ............... reseal, complete
    @Test func aWriterThatWasStoppedWithTheOldKeyInHandIsWaitedFor() throws {
        try yard.write(2)
        let place = try yard.store.places.place("new")
        let lock = try yard.store.backend.lock(place.address, timeout: .zero, isCancelled: nil)
        let blob = try yard.forge("new", sequence: 1)
        let rotation = try yard.child("rotate")
        while let line = try rotation.readLine(), line != "walk 2" {}
        try yard.fixture.plant(blob, "new")
        lock.unlock()
        #expect(try rotation.finish().outputText.contains("completed 2 3"))
        #expect(try yard.header(ofRecord: "new").epoch == 2)
        #expect(try yard.fixture.probe("store-read", "new") == "666 0 1")
    }

    @Test func aWriterThatStaysStoppedEndsTheRotationForNow() throws {
        try yard.write(2)
        let place = try yard.store.places.place("new")
        let lock = try yard.store.backend.lock(place.address, timeout: .zero, isCancelled: nil)
        #expect(code { try yard.rotate { $0.lockTimeout = .milliseconds(50) } } == .lockTimeout)
        #expect(try yard.epochs(2) == [2, 2])
        #expect(try yard.store.rotationStatus().isRotating)
        lock.unlock()
        #expect(try yard.rotate().isCompleted)
    }

    @Test func twoRotationsAtOnceAreOne() throws {
        try yard.write(30)
        for number in 0..<5 { try yard.plantStream("s\(number)", RotationYard.contents(200_000)) }
        let rotations = try (0..<3).map { _ in try yard.child("rotate") }
        for rotation in rotations {
            let output = try rotation.finish().outputText
            #expect(output.contains("completed"), "\(output)")
        }
        let status = try yard.store.rotationStatus()
        // A rotation that started after the others were done has begun another epoch.
        let active = try #require(status.activeEpoch)
        #expect(!status.isRotating)
        #expect(status.minimumEpoch == active)
        #expect(try yard.epochs(30).allSatisfy { $0 == active })
        for number in 0..<30 { #expect(try yard.store.read(ProbeRecord.self, named: "r\(number)").number == number) }
        for number in 0..<5 { #expect(try yard.openStream("s\(number)") == RotationYard.contents(200_000)) }
    }

    // rotation:  begin, reseal, … killed      begin or go on, reseal, … killed      …      goes on to the end
    @Test func aRotationThatIsKilledAnywhereIsGoneOnWith() throws {
        let count = 25
        let large = RotationYard.contents(3_000_000)
        try yard.write(count)
        try yard.plantStream("large", large)
        let sequences = try (0..<count).map { try yard.header(ofRecord: "r\($0)").sequence }
        var kills = 0
        for round in 0..<(isLongForm ? 200 : 12) {
            let rotation = try yard.child("rotate", "400")
            _ = try rotation.readLine()
            usleep(UInt32(round * 7919 % 70_000))
            rotation.kill(SIGKILL)
            if try rotation.finish().status == .signalled(SIGKILL) { kills += 1 }
            for number in 0..<count {
                #expect(try yard.store.read(ProbeRecord.self, named: "r\(number)").number == number)
            }
            #expect(try yard.openStream("large") == large)
        }
        #expect(kills > 0)
        #expect(try yard.rotate().isCompleted)
        let active = try #require(try yard.store.rotationStatus().activeEpoch)
        #expect(try yard.epochs(count).allSatisfy { $0 == active })
        #expect(try (0..<count).map { try yard.header(ofRecord: "r\($0)").sequence } == sequences)
        #expect(try yard.header("large").epoch == active)
    }
}

/// Tests of a rotation that is killed at any system call: every blob stays whole, and the next rotation completes.
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(30)))
struct RotationCrashFaultTests {
    @Test func killingARotationAtEverySystemCallLeavesEveryBlobWhole() throws {
        let yard = try RotationYard()
        try yard.write(2)
        try yard.plantStream("stream", RotationYard.contents(100_000))
        let traced = yard.fixture.traced(["rotate"])
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
            try requireWhole(yard, "\(call)")
            #expect(try yard.rotate().isCompleted, "\(call)")
            try requireWhole(yard, "\(call)")
            let status = try yard.store.rotationStatus()
            #expect(status.keys.last?.blobCount == 3, "\(call)")
        }
    }

    private func requireWhole(_ yard: RotationYard, _ place: Comment) throws {
        for number in 0..<2 {
            let snapshot = try yard.store.snapshot(of: ProbeRecord.self, named: "r\(number)")
            #expect(snapshot.value.number == number && snapshot.provenance.sequence == 1, place)
        }
        #expect(try yard.openStream("stream") == RotationYard.contents(100_000), place)
    }
}
