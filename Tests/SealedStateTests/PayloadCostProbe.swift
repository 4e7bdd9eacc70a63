import FoundationEssentials
import SealedState
import Sealing
import TestSupport
import Testing

/// A process that reads payloads sealed by a key holder and measures their cost.
final class PayloadCostProbe {
    /// The largest growth of the process's resident memory through the refusal of a record, in KiB.
    static let growthLimit = 8 * 1024

    struct Answer {
        let text: String
        let growth: Int
        let microseconds: Int
    }

    private let fixture: StoreFixture
    private let store: SealedStore
    private let child: ChildProcess

    /// - Parameter size: The largest record that the process reads; `nil` for the default.
    init(maximumSize size: Int? = nil) throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        let words = ["payload-cost", fixture.place.path, fixture.group.identifier] + (size.map { ["\($0)"] } ?? [])
        child = try ChildProcess("sealed-probe", words)
        // The fixed cost of a first read.
        for name in ["warm-json", "warm-again"] {
            #expect(try read(Array(#"{"a":[1,"x",{}]}"#.utf8), .json, name).text == "read")
        }
        let list = PropertyListFile([PropertyListFile.array([1]), PropertyListFile.one]).bytes
        #expect(try read(list, .binaryPropertyList, "warm-bplist").text == "read")
    }

    /// Seals a payload under a name of its own and reads it in the process.
    func read(_ payload: [UInt8], _ codec: PayloadCodec, _ name: String) throws -> Answer {
        var forgery = try Forgery(store)
        (forgery.name, forgery.schemaVersion, forgery.codec, forgery.payload) = (name, 1, codec, .bytes(payload))
        try fixture.plant(forgery.blob, name)
        try child.write(name + "\n")
        // A generous limit: work that doubles with each level would take years.
        let line = try #require(try child.readLine(timeLimit: .seconds(60)), "the process ended")
        let words = line.split(separator: " ")
        try #require(words.count == 3, "\(line)")
        return Answer(
            text: String(words[0]), growth: try #require(Int(words[1])), microseconds: try #require(Int(words[2])))
    }
}
