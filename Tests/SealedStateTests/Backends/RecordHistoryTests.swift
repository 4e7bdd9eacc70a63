import SealedStateTestKit
import TestSupport
import Testing

/// The check of a record's history accepts what one order of the calls explains, and nothing else.
@Suite struct RecordHistoryTests {
    private typealias Call = RecordHistory.Call

    private func fault(_ calls: [RecordHistory.Call], initial: RecordHistory.Call? = nil) -> String? {
        RecordHistory(calls, initial: initial).fault()
    }

    private func put(_ start: UInt64, _ end: UInt64, _ sequence: UInt64, over replaced: UInt64 = 0) -> Call {
        Call(.put, start, end, sequence: sequence, mark: sequence * 7, replaced: replaced)
    }

    private func remove(_ start: UInt64, _ end: UInt64, _ sequence: UInt64, over replaced: UInt64) -> Call {
        Call(.remove, start, end, sequence: sequence, replaced: replaced)
    }

    private func read(_ start: UInt64, _ end: UInt64, _ sequence: UInt64) -> Call {
        Call(.read, start, end, sequence: sequence, mark: sequence * 7)
    }

    // writer: |--1--|      |----2----|
    // reader:   |0|  |1|     |1| |2|   |2|
    @Test func readingsDuringAWriteReturnEitherState() {
        #expect(
            fault([
                put(10, 20, 1), put(40, 60, 2, over: 1), read(12, 14, 0), read(22, 25, 1), read(42, 45, 1),
                read(47, 50, 2), read(70, 80, 2),
            ]) == nil)
    }

    @Test func aReadingAfterAWriteReturnsNothingOlder() {
        #expect(fault([put(10, 20, 1), read(21, 25, 0)])?.contains("found no blob") == true)
        #expect(fault([put(10, 20, 1), put(30, 40, 2, over: 1), read(41, 45, 1)])?.contains("found 1 after 2") == true)
        // The write had not ended when the reading began.
        #expect(fault([put(10, 20, 1), put(30, 40, 2, over: 1), read(39, 45, 1)]) == nil)
    }

    @Test func aReadingReturnsNothingThatIsWrittenLater() {
        #expect(fault([put(10, 20, 1), read(2, 9, 1)])?.contains("began after 1") == true)
        #expect(fault([put(10, 20, 1), read(2, 10, 1)]) == nil)
    }

    // writer:  |-------2-------|
    // reader:     |2|
    // another:         |1|
    @Test func laterReadingsDuringAWriteReturnNothingOlder() {
        let writes = [put(1, 5, 1), put(10, 90, 2, over: 1)]
        #expect(fault(writes + [read(20, 30, 2), read(40, 50, 1)])?.contains("found 1 after 2") == true)
        #expect(fault(writes + [read(20, 45, 2), read(40, 50, 1)]) == nil)
    }

    @Test func noTwoWritesHaveOneSequence() {
        #expect(
            fault([put(1, 2, 1), put(3, 4, 2, over: 1), put(3, 5, 2, over: 1)])?.contains("have the sequence 2") == true
        )
    }

    @Test func aWriteReplacesWhatItWasDecidedOn() {
        #expect(fault([put(1, 2, 1), put(3, 4, 2, over: 1), put(3, 5, 3, over: 1)])?.contains("replaced 2") == true)
        #expect(fault([put(1, 2, 1), put(3, 4, 2)])?.contains("replaced 1") == true)
    }

    @Test func writesFollowTheTimes() {
        #expect(fault([put(1, 2, 2, over: 1), put(3, 4, 1)])?.contains("The write 1 began after 2") == true)
    }

    @Test func readingsReturnWhatWasWritten() {
        #expect(fault([put(1, 2, 1), read(3, 4, 9)])?.contains("never written") == true)
        let other = Call(.read, 3, 4, sequence: 1, mark: 8)
        #expect(fault([put(1, 2, 1), other])?.contains("another blob 1") == true)
        #expect(fault([put(1, 2, 1), remove(3, 4, 2, over: 1), read(5, 6, 2)])?.contains("another blob 2") == true)
    }

    // writer:   1  removed  3  removed  5
    // reader:          |0|        |0|      |0|
    @Test func aRemovedRecordHasNoBlobUntilTheNextWrite() {
        let writes = [
            put(10, 19, 1), remove(20, 29, 2, over: 1), put(30, 39, 3), remove(40, 49, 4, over: 3), put(50, 59, 5),
        ]
        #expect(fault(writes + [read(28, 31, 0), read(45, 51, 0), read(46, 52, 0)]) == nil)
        #expect(fault(writes + [read(60, 65, 0)])?.contains("found no blob") == true)
        // The first absence explains the first reading, and not the one after 3.
        #expect(fault(writes + [read(30, 35, 0), read(36, 38, 3), read(42, 44, 0)]) == nil)
        #expect(fault(writes + [read(30, 35, 3), read(36, 39, 0)])?.contains("write 4 began after 4") == true)
        #expect(
            fault(writes + [read(40, 41, 3), read(42, 43, 0), read(44, 45, 3)])?.contains("found 3 after 4") == true)
    }

    @Test func aWriteWithoutAnAnswerIsMadeAtAnyTimeOrNever() {
        let unknown = put(10, Call.unknown, 2, over: 1)
        #expect(fault([put(1, 2, 1), unknown, read(20, 30, 1), read(90, 99, 1)]) == nil)
        #expect(fault([put(1, 2, 1), unknown, read(20, 30, 1), read(90, 99, 2)]) == nil)
        #expect(fault([put(1, 2, 1), unknown, read(20, 30, 2), read(90, 99, 1)])?.contains("found 1 after 2") == true)
        #expect(fault([put(1, 2, 1), unknown, read(5, 9, 2)])?.contains("began after 2") == true)
        #expect(fault([put(1, 2, 1), unknown, put(40, 50, 3, over: 2), read(60, 61, 3)]) == nil)
        #expect(fault([put(1, 2, 1), unknown, put(40, 50, 3, over: 1), read(60, 61, 3)]) == nil)
        #expect(fault([put(1, 2, 1), unknown, put(40, 50, 3, over: 1), read(60, 61, 2)]) != nil)
    }

    @Test func aRemovalWithoutAnAnswerExplainsAnAbsence() {
        let unknown = remove(10, Call.unknown, 2, over: 1)
        #expect(fault([put(1, 2, 1), unknown, put(20, 30, 3), read(40, 50, 3)]) == nil)
        #expect(fault([put(1, 2, 1), unknown, put(20, 30, 3, over: 1)]) == nil)
        #expect(fault([put(1, 2, 1), unknown, read(20, 30, 0)]) == nil)
        #expect(fault([put(1, 2, 1), unknown, read(20, 30, 0), read(40, 50, 1)])?.contains("found 1 after 2") == true)
    }

    // writer:   1      removed
    // another:     |--- removes 1, no answer
    @Test func aRemovalWithoutAnAnswerMayBeTooLate() {
        let unknown = remove(10, Call.unknown, 9, over: 1)
        #expect(fault([put(1, 2, 1), unknown, remove(20, 30, 8, over: 1), read(40, 50, 0)]) == nil)
        #expect(fault([put(1, 2, 1), unknown, put(20, 30, 8, over: 1), read(40, 50, 8)]) == nil)
        #expect(fault([put(1, 2, 1), unknown, put(20, 30, 8, over: 1), read(40, 50, 0)]) != nil)
        // Of a blob whose write has no answer either.
        let other = put(3, Call.unknown, 4, over: 1)
        let late = remove(10, Call.unknown, 9, over: 4)
        #expect(fault([put(1, 2, 1), other, read(5, 6, 4), late, read(40, 50, 0)]) == nil)
    }

    @Test func historiesAreContinued() {
        let initial = put(1, 2, 7).asState
        #expect(fault([read(10, 20, 7), put(30, 40, 8, over: 7)], initial: initial) == nil)
        #expect(fault([read(10, 20, 0)], initial: initial)?.contains("found no blob") == true)
        #expect(fault([put(30, 40, 8)], initial: initial)?.contains("replaced 7") == true)
        #expect(fault([read(10, 20, 0), put(30, 40, 8)], initial: read(1, 2, 0).asState) == nil)
    }

    /// Histories of one register: right ones are accepted; with two readings exchanged in time they are not.
    @Test(arguments: 0..<40 as Range<UInt64>) func randomHistories(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (calls, now, state): ([RecordHistory.Call], UInt64, UInt64) = ([], 10, 0)
        for sequence in 1...200 as ClosedRange<UInt64> {
            // Each call takes effect at `now`, between its beginning and its end.
            func spread() -> (UInt64, UInt64) {
                now += UInt64.random(in: 10...20, using: &random)
                return (now - .random(in: 0...25, using: &random) % now, now + .random(in: 0...25, using: &random))
            }
            let (start, end) = spread()
            if state != 0, Int.random(in: 0..<5, using: &random) == 0 {
                calls.append(remove(start, end, sequence, over: state))
                state = 0
            } else {
                calls.append(put(start, end, sequence, over: state))
                state = sequence
            }
            for _ in 0..<3 {
                let (start, end) = spread()
                calls.append(read(start, end, state))
            }
        }
        #expect(fault(calls.shuffled(using: &random)) == nil)
        #expect(calls.allSatisfy { Call("\($0)") == $0 })
        // A reading of an early blob at the end.
        let early = calls.prefix(300).filter { $0.kind == .put }.randomElement(using: &random)
        let late = read(now + 100, now + 110, early?.sequence ?? 1)
        #expect(fault(calls + [late])?.contains("found \(late.sequence) after") == true)
        let soon = read(1, 2, calls.last { $0.kind == .put }?.sequence ?? 1)
        #expect(fault([soon] + calls) != nil)
    }
}
