import Glibc
import GroupFileCoordination
import SharedFiles
import TestSupport
import Testing

/// Tests of requests and notices to presenters. The columns of each comment are the processes, time runs down.
@Suite(.timeLimit(.minutes(10))) struct FilePresenterTests {
    private let sandbox: CoordinationSandbox

    init() throws {
        sandbox = try CoordinationSandbox()
        try sandbox.write("file", "0")
    }

    private func presenting<Value>(_ presenter: NotingPresenter, _ body: () throws -> Value) throws -> Value {
        try FileCoordinator.addFilePresenter(presenter, domain: sandbox.domain)
        defer { FileCoordinator.removeFilePresenter(presenter, domain: sandbox.domain) }
        return try body()
    }

    //  test                    presenter
    //  ask
    //                          relinquish, save
    //  read
    //  done
    //                          reacquire
    @Test func aPresenterElsewhereMakesWayAndContinues() throws {
        let presenter = try sandbox.presenter("file", "save")
        let seen = try sandbox.coordinator().coordinate(readingItemAt: sandbox.path("file")) { _ in
            Result { try sandbox.text("file") }
        }.get()
        #expect(seen == "saved")
        #expect(try presenter.readLine() == "relinquish to reader")
        #expect(try presenter.readLine() == "save")
        #expect(try presenter.readLine() == "reacquire from reader")
    }

    @Test func aReaderThatNeedsNoChangesAsksNoPresenterToSave() throws {
        let presenter = try sandbox.presenter("file", "save")
        let options: [ReadingOptions] = [.withoutChanges, .immediatelyAvailableMetadataOnly]
        for options in options {
            #expect(sandbox.code(.reading(sandbox.path("file"), options: options), milliseconds: 60_000) == nil)
            #expect(try presenter.readLine() == "relinquish to reader")
            #expect(try presenter.readLine() == "reacquire from reader")
        }
        #expect(try sandbox.text("file") == "0")
    }

    @Test func aWriterNotifiesPresentersOfTheChangeBeforeTheyContinue() throws {
        let presenter = try sandbox.presenter("file")
        try sandbox.coordinator().coordinate(writingItemAt: sandbox.path("file")) { _ in
            Result { try sandbox.write("file", "1") }
        }.get()
        #expect(try presenter.readLine() == "relinquish to writer")
        try expectChange("1", at: presenter)
        #expect(try nextButChanges(presenter) == "reacquire from writer")
    }

    /// Returns the next line that is not about a change: the monitor may report a change that is reported anyway.
    fileprivate func nextButChanges(_ presenter: ChildProcess) throws -> String? {
        var line = try presenter.readLine()
        while line?.hasPrefix("changed") == true { line = try presenter.readLine() }
        return line
    }

    /// Expects the change; the monitor may report intermediate states of the write before it.
    private func expectChange(_ text: String, at presenter: ChildProcess) throws {
        var line = try presenter.readLine()
        while let found = line, found.hasPrefix("changed"), found != "changed \(text)" {
            line = try presenter.readLine()
        }
        #expect(line == "changed \(text)")
    }

    //  reader                  presenter               test
    //                          relinquish
    //  read
    //  SIGKILL
    //                          reacquire
    @Test func aPresenterContinuesWhenTheReaderDies() throws {
        let presenter = try sandbox.presenter("file")
        let reader = try sandbox.holding("read-plain", "file")
        #expect(try presenter.readLine() == "relinquish to reader")
        reader.kill(SIGKILL)
        #expect(try presenter.readLine() == "reacquire from reader")
    }

    //  writer                  presenter               test
    //                          relinquish
    //  write
    //                                                  change the file
    //  SIGKILL
    //                          changed, reacquire
    @Test func aPresenterLearnsWhatAWriterThatDiedHasLeft() throws {
        let presenter = try sandbox.presenter("file")
        let writer = try sandbox.holding("updating", "file")
        #expect(try presenter.readLine() == "relinquish to writer")
        try sandbox.write("file", "half")
        writer.kill(SIGKILL)
        var lines: Set<String> = []
        while !lines.isSuperset(of: ["changed half", "reacquire from writer"]) {
            guard let line = try presenter.readLine() else { break }
            lines.insert(line)
        }
        #expect(lines.isSuperset(of: ["changed half", "reacquire from writer"]))
    }

    @Test func aDeadPresenterNeverBlocksAndIsSwept() throws {
        let presenter = try sandbox.presenter("file")
        #expect(try SystemFile.names(sandbox.place.path("domain")).count == 2)
        presenter.kill(SIGKILL)
        #expect(try presenter.finish().status == .signalled(SIGKILL))
        #expect(sandbox.code(.writing(sandbox.path("file")), milliseconds: 60_000) == nil)
        #expect(try SystemFile.names(sandbox.place.path("domain")) == [".lock"])
    }

    //  test                    presenter
    //                          SIGSTOP
    //  write: time-out
    //                          SIGCONT
    //  write
    @Test func aStoppedPresenterCostsTheTimeLimitAndIsNamed() throws {
        let presenter = try sandbox.presenter("file")
        presenter.kill(SIGSTOP)
        try presenter.waitUntilStopped()
        let error = #expect(throws: FileError.self) {
            try sandbox.coordinator().coordinate(writingItemAt: sandbox.path("file"), timeout: .milliseconds(50)) { _ in
            }
        }
        #expect(error?.code == .presenterTimeout)
        #expect(error?.advice.contains(" \(presenter.pid) ") == true)
        #expect(sandbox.code(.writing(sandbox.path("other"))) == nil)
        presenter.kill(SIGCONT)
        #expect(sandbox.code(.writing(sandbox.path("file")), milliseconds: 60_000) == nil)
    }

    @Test func aPresenterThatDiesWhileItIsAskedDoesNotBlock() throws {
        let presenter = try sandbox.presenter("file", "silent")
        let waiter = try sandbox.holder("updating", "file")
        #expect(try presenter.readLine() == "relinquish to writer")
        presenter.kill(SIGKILL)
        #expect(try waiter.readLine() == "held \(sandbox.path("file"))")
    }

    @Test func cancellingEndsTheWaitingForAPresenter() throws {
        let presenter = try sandbox.presenter("file", "silent")
        let coordinator = sandbox.coordinator()
        let outcomes = try concurrently(2) { index -> FileError.Code? in
            if index == 0 {
                return sandbox.code(.writing(sandbox.path("file")), milliseconds: 600_000, by: coordinator)
            }
            let line = try presenter.readLine()
            coordinator.cancel()
            return line == "relinquish to writer" ? .cancelled : nil
        }
        #expect(try outcomes.map { try $0.get() } == [.cancelled, .cancelled])
    }

    @Test func aPresenterThatCannotSaveRefusesTheReader() throws {
        let presenter = try sandbox.presenter("file", "refuse")
        #expect(sandbox.code(.reading(sandbox.path("file")), milliseconds: 60_000) == .presenterFailed)
        #expect(try presenter.readLine() == "relinquish to reader")
        #expect(try presenter.readLine() == "save")
        #expect(try presenter.readLine() == "reacquire from reader")
    }

    @Test func aPresenterIsNotNotifiedOfItsOwnChanges() throws {
        let presenter = try sandbox.presenter("file")
        let other = NotingPresenter(sandbox.path("file"))
        try presenting(other) {
            try presenter.write("write\n")
            // A notice of its own writing would come before the answer or before the next change.
            #expect(try presenter.readLine() == "done write")
            other.wait(for: "writer done")
            #expect(Set(other.notes) == ["writer", "changed", "writer done"])
            try sandbox.write("file", "uncoordinated")
            try expectChange("uncoordinated", at: presenter)
        }
    }

    @Test func anUncoordinatedChangeIsReportedAsWell() throws {
        let presenter = try sandbox.presenter("file")
        try sandbox.write("file", "by an editor")
        try expectChange("by an editor", at: presenter)
        try sandbox.write("next", "replaced")
        try #require(rename(sandbox.path("next"), sandbox.path("file")) == 0)
        try expectChange("replaced", at: presenter)
    }

    @Test func aRemovedPresenterIsNotNotified() throws {
        let presenter = try sandbox.presenter("file")
        try presenter.write("remove\n")
        #expect(try presenter.readLine() == "done remove")
        #expect(sandbox.code(.writing(sandbox.path("file"))) == nil)
        try sandbox.write("file", "1")
        #expect(try SystemFile.names(sandbox.place.path("domain")) == [".lock"])
        #expect(try presenter.finish().outputText == "")
    }
}

extension FilePresenterTests {
    @Test func aDeletionIsAnnouncedToPresentersOfTheItemAndOfItsContents() throws {
        try sandbox.place.directory("items/directory")
        try sandbox.write("directory/inner", "0")
        let inner = try sandbox.presenter("directory/inner")
        let outer = try sandbox.presenter("")
        try sandbox.coordinator().coordinate(writingItemAt: sandbox.path("directory"), for: .deleting) { path in
            Result {
                try #require(unlink(path + "/inner") == 0)
                try #require(rmdir(path) == 0)
            }
        }.get()
        #expect(try nextButChanges(inner) == "relinquish to writer")
        #expect(try nextButChanges(inner) == "deletion")
        #expect(try nextButChanges(outer) == "subitem deletion \(sandbox.path("directory"))")
        #expect(try nextButChanges(outer) == "subitem changed \(sandbox.path("directory"))")
    }

    @Test func aMoveIsReportedToTheItemItsContentsAndItsDirectory() throws {
        try sandbox.place.directory("items/old")
        try sandbox.write("old/inner", "0")
        let inner = try sandbox.presenter("old/inner")
        let around = NotingPresenter(sandbox.path(""))
        let item = NotingPresenter(sandbox.path("old"))
        try presenting(around) {
            try presenting(item) {
                let coordinator = sandbox.coordinator()
                try coordinator.coordinate(
                    writingItemAt: sandbox.path("old"), for: .moving, writingItemAt: sandbox.path("new"),
                    for: .replacing
                ) { (old, new) throws(FileError) in
                    rename(old, new)
                    try coordinator.item(at: old, didMoveTo: new)
                }
                item.wait(for: "writer done")
                #expect(item.notes.contains("moved"))
                #expect(item.presentedItemPath == sandbox.path("new"))
                around.wait(for: "subitem moved")
                #expect(try nextButChanges(inner) == "relinquish to writer")
                #expect(try nextButChanges(inner) == "moved \(sandbox.path("new/inner"))")
                #expect(try nextButChanges(inner) == "reacquire from writer")
            }
            // From now on the presenter is found at its new path.
            #expect(sandbox.code(.reading(sandbox.path("new/inner")), milliseconds: 60_000) == nil)
            #expect(try nextButChanges(inner) == "relinquish to reader")
        }
    }

    //  A nested access that ends meanwhile must not send presenters to the new place: the item is still being moved.
    @Test func aMoveIsReportedWhenTheAccessThatMadeItEnds() throws {
        let around = NotingPresenter(sandbox.path(""))
        try presenting(around) {
            let coordinator = sandbox.coordinator()
            try coordinator.coordinate(
                writingItemAt: sandbox.path("file"), for: .moving, writingItemAt: sandbox.path("new"), for: .replacing
            ) { (old, new) throws(FileError) in
                rename(old, new)
                try coordinator.item(at: old, didMoveTo: new)
                #expect(sandbox.code(.reading(sandbox.path("other")), by: coordinator) == nil)
                try coordinator.coordinate(writingItemAt: sandbox.path("mark")) { _ in
                    _ = mkdir(sandbox.path("mark"), 0o700)
                }
            }
            around.wait(for: "subitem moved")
            let reported = around.notes
            #expect(
                try #require(reported.firstIndex(of: "appeared")) < #require(reported.firstIndex(of: "subitem moved")))
        }
    }

    @Test func aDirectoryLearnsOfWhatAppearsAndChangesInIt() throws {
        let around = NotingPresenter(sandbox.path(""))
        try presenting(around) {
            try sandbox.coordinator().coordinate(writingItemAt: sandbox.path("new")) { _ in
                Result { try sandbox.write("new", "1") }
            }.get()
            around.wait(for: "appeared")
            #expect(!around.notes.contains("subitem changed"))
            #expect(sandbox.code(.writing(sandbox.path("new"))) == nil)
            around.wait(for: "subitem changed")
        }
    }

    @Test func aPresenterHereMakesWayAsOneElsewhereDoes() throws {
        let presenter = NotingPresenter(sandbox.path("file"))
        try presenting(presenter) {
            #expect(sandbox.code(.reading(sandbox.path("file")), milliseconds: 60_000) == nil)
            presenter.wait(for: "reader done")
            #expect(presenter.notes == ["reader", "save", "reader done"])
            #expect(sandbox.code(.reading(sandbox.path("file")), by: sandbox.coordinator(presenter)) == nil)
            #expect(presenter.notes.count == 3)
        }
    }

    @Test func aPresenterMayCoordinateWhileItMakesWay() throws {
        let sandbox = sandbox
        let presenter = NotingPresenter(
            sandbox.path("file"),
            onWriter: { presenter in
                let coordinator = sandbox.coordinator(presenter)
                #expect(
                    sandbox.code([.reading(sandbox.path("file")), .writing(sandbox.path("log"))], by: coordinator)
                        == nil)
            })
        try presenting(presenter) {
            #expect(sandbox.code(.writing(sandbox.path("file")), milliseconds: 60_000) == nil)
            presenter.wait(for: "writer done")
        }
    }

    @Test func aPresenterIsAddedOnceAndRemovedOnce() throws {
        let presenter = NotingPresenter(sandbox.path("file"))
        for _ in 0..<2 { try FileCoordinator.addFilePresenter(presenter, domain: sandbox.domain) }
        #expect(FileCoordinator.filePresenters(domain: sandbox.domain).count == 1)
        for _ in 0..<2 { FileCoordinator.removeFilePresenter(presenter, domain: sandbox.domain) }
        #expect(FileCoordinator.filePresenters(domain: sandbox.domain).isEmpty)
        #expect(sandbox.code(.writing(sandbox.path("file"))) == nil)
        #expect(presenter.notes.isEmpty)
    }

    //  Both present the file; each writes it when it is asked to save, and so asks the other to make way.
    @Test func presentersThatWriteWhileTheySaveDoNotWaitForEachOther() throws {
        let domain = sandbox.domain
        let saving: @Sendable (NotingPresenter) throws(FileError) -> Void = { (presenter) throws(FileError) in
            let coordinator = FileCoordinator(presenter: presenter, domain: domain)
            try coordinator.coordinate(writingItemAt: presenter.presentedItemPath ?? "", timeout: .seconds(60)) { _ in }
        }
        let here = NotingPresenter(sandbox.path("file"), onSave: saving)
        let alsoHere = NotingPresenter(sandbox.path("file"), onSave: saving)
        let elsewhere = try sandbox.presenter("file", "save")
        try presenting(here) {
            try presenting(alsoHere) {
                #expect(sandbox.code(.reading(sandbox.path("file")), milliseconds: 60_000) == nil)
            }
        }
        #expect(try elsewhere.readLine() != nil)
        #expect(try sandbox.text("file") == "saved")
    }

    @Test func aPresenterThatComesWhileItsItemIsReadIsAskedByTheNextWriter() throws {
        let presenter = NotingPresenter(sandbox.path("file"))
        let writer = try sandbox.coordinator().coordinate(readingItemAt: sandbox.path("file")) { _ in
            Result {
                // The writer has found no presenter, and waits for the lock.
                let writer = try sandbox.holder("updating", "file")
                let lock = sandbox.place.path("domain/.lock")
                while !((try? SystemFile.names("/proc/\(writer.pid)/fd")) ?? []).contains(where: {
                    (try? SystemFile.linkTarget("/proc/\(writer.pid)/fd/\($0)")) == lock
                }) { usleep(1000) }
                try FileCoordinator.addFilePresenter(presenter, domain: sandbox.domain)
                return writer
            }
        }.get()
        defer { FileCoordinator.removeFilePresenter(presenter, domain: sandbox.domain) }
        #expect(try writer.readLine() == "held \(sandbox.path("file"))")
        #expect(presenter.notes == ["writer"])
    }

    @Test func aBatchAsksOnceForEverythingInsideItsItems() throws {
        try sandbox.place.directory("items/directory")
        let inner = NotingPresenter(sandbox.path("directory/inner"))
        try presenting(inner) {
            let coordinator = sandbox.coordinator()
            try coordinator.prepare(forReadingItemsAt: [], writingItemsAt: [sandbox.path("directory")]) {
                for _ in 0..<3 {
                    #expect(sandbox.code(.writing(sandbox.path("directory/inner")), by: coordinator) == nil)
                }
                #expect(inner.notes.count { $0 == "writer" } == 1)
                #expect(!inner.notes.contains("writer done"))
            }
            inner.wait(for: "writer done")
        }
    }

    @Test func aPresenterGetsItsPathByItsFirstWrite() throws {
        let presenter = NotingPresenter(nil)
        try presenting(presenter) {
            try sandbox.coordinator(presenter).coordinate(writingItemAt: sandbox.path("fresh")) { path in
                Result {
                    try sandbox.write("fresh", "1")
                    presenter.presentedItemPath = path
                }
            }.get()
            let reader = try sandbox.holder("read", "fresh")
            #expect(try reader.readLine() == "held \(sandbox.path("fresh"))")
            #expect(presenter.notes == ["reader", "save"])
        }
    }
}
