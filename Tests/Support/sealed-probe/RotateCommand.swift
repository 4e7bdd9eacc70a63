internal import Glibc
internal import SealedState

/// `rotate HOME GROUP [BLOBS-PER-SECOND]`: rotates the group's keys.
///
/// Prints `walk PASS` at the beginning of each walk and `done RESEALED` after each blob, then `completed EPOCH
/// RESEALED` or `open EPOCH`, and a line for each remaining blob; or the error's code.
func rotateCommand(arguments: [String]) -> Int32 {
    guard (2...3).contains(arguments.count) else { return 64 }
    return onRotatingStore(arguments) { store throws(StoreError) in
        var options = RotationOptions()
        options.blobsPerSecond = arguments.count > 2 ? Double(arguments[2]) : nil
        options.lockTimeout = .seconds(30)
        let report = try store.rotate(options) { progress in
            say(progress.done == 0 ? "walk \(progress.pass)" : "done \(progress.resealed)")
        }
        say(report.isCompleted ? "completed \(report.epoch) \(report.resealed)" : "open \(report.epoch)")
        for blob in report.left { say("left \(blob.code.rawValue) \(blob.path)") }
    }
}

/// `rotate-writer HOME GROUP NAME`: writes its own record repeatedly, and prints `written NUMBER SEQUENCE` after each
/// write, until its input ends.
func rotateWriterCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    return onRotatingStore(arguments) { store throws(StoreError) in
        var number = 0
        while !inputHasEnded() {
            number += 1
            let sequence = try store.write(
                ProbeRecord(number: number, text: String(repeating: "x", count: 100)), named: arguments[2],
                durability: number % 4 == 0 ? .durable : .unsynced)
            say("written \(number) \(sequence)")
        }
    }
}

/// `rotate-hold HOME GROUP`: opens the store and prints `ready`; reads a record at each line of its input, and prints its
/// epoch or the error's code.
func rotateHoldCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2 else { return 64 }
    return onRotatingStore(arguments) { store throws(StoreError) in
        say("ready")
        while let name = readLine() {
            do throws(StoreError) {
                say("\(try store.snapshot(of: ProbeRecord.self, named: name).provenance.epoch)")
            } catch {
                say(error.code.rawValue)
            }
        }
    }
}

func inputHasEnded() -> Bool {
    var request = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 0) > 0
}

private func onRotatingStore(_ arguments: [String], _ body: (SealedStore) throws(StoreError) -> Void) -> Int32 {
    guard let group = try? AppGroup(arguments[1]) else { return 64 }
    do throws(StoreError) {
        var options = StoreOptions()
        options.lockTimeout = .seconds(30)
        try body(try SealedStore(group: group, in: GroupsHome(root: arguments[0]), options: options))
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}
