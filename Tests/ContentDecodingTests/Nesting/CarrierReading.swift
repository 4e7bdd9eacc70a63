import ContentDecoding
import TestSupport
import Testing

/// A value that these tests compare: copied, because a value lives only while it is visited.
struct FoundValue: Hashable, CustomStringConvertible {
    enum Kind: String { case text, data, block, strings, number, flag }

    let place: String
    let name: String?
    let kind: Kind
    let text: String
    let bytes: [UInt8]
    let number: Double?
    let range: Range<Int64>?
    let line: Int?
    let form: CarrierForm
    let presence: DecodedValue.Presence

    init(_ leaf: DecodedValue) {
        place = leaf.trail.text
        name = leaf.name.map { String(decoding: $0, as: UTF8.self) }
        (range, form, presence) = (leaf.range, leaf.form, leaf.presence)
        var (number, line) = (Double?.none, Int?.none)
        switch leaf.value {
        case .text(let all): (kind, bytes) = (.text, Array(all))
        case .data(let all): (kind, bytes) = (.data, Array(all))
        case .strings(let all): (kind, bytes) = (.strings, Array(all))
        case .block(let all, let first): (kind, bytes, line) = (.block, Array(all), first)
        case .number(let value): (kind, bytes, number) = (.number, [], value)
        case .flag(let value): (kind, bytes, number) = (.flag, [], value ? 1 : 0)
        }
        text = String(decoding: bytes, as: UTF8.self)
        (self.number, self.line) = (number, line)
    }

    var description: String { "\(place) [\(name ?? "-")] \(kind) \(text.prefix(60)) \(number ?? 0) \(presence)" }
}

/// The result of reading one carrier.
struct CarrierReading {
    let bytes: [UInt8]
    let leaves: [FoundValue]
    let notes: [CarrierBudget.Unread]
    let fault: CarrierFault?

    /// Reads bytes like a file of that name; `keeping: false` counts values without a copy.
    init(_ bytes: [UInt8], named name: String = "", budget: CarrierBudget = CarrierBudget()) {
        self.bytes = bytes
        var found: [FoundValue] = []
        var fault: CarrierFault?
        let walk = ValueWalk(budget: budget) { found.append(FoundValue($0)) }
        do throws(CarrierFault) { try Carriers.read(CarrierInput(MemorySource(bytes), name: name), walk) } catch {
            fault = error
        }
        leaves = found
        notes = budget.unread
        self.fault = fault
    }

    /// Returns the number of values in hostile bytes, each visited but not kept.
    static func count(_ bytes: [UInt8], budget: CarrierBudget = CarrierBudget()) -> (leaves: Int, notes: [CarrierFault])
    {
        var count = 0
        let walk = ValueWalk(budget: budget) { _ in count += 1 }
        do throws(CarrierFault) { try Carriers.read(CarrierInput(MemorySource(bytes)), walk) } catch {
            budget.note(error, at: "")
        }
        return (count, budget.unread.map(\.fault))
    }

    /// Returns the only value of a place; fails if the place has no value or several.
    func only(_ place: String, _ at: SourceLocation = #_sourceLocation) throws -> FoundValue {
        let all = leaves.filter { $0.place == place }
        try #require(all.count == 1, "\(place): \(all.count) of \(leaves.map(\.place))", sourceLocation: at)
        return all[0]
    }

    /// Returns the bytes of the file at a value's location.
    func fileBytes(of leaf: FoundValue) -> [UInt8] {
        leaf.range.map { Array(bytes[Int($0.lowerBound)..<Int($0.upperBound)]) } ?? []
    }
}

/// Fixtures that Python makes.
extension Python {
    /// Runs a program that writes bytes to `out`, or files into its working directory.
    static func bytes(_ program: String) throws -> [UInt8] { try files(program, ["out"])[0] }

    static func files(_ program: String, _ names: [String]) throws -> [[UInt8]] {
        let directory = try TemporaryDirectory()
        let prelude = """
            import plistlib, base64, gzip, zlib, json, random, struct, sys, datetime, urllib.parse
            from plistlib import UID, FMT_BINARY, FMT_XML
            def binary(value): return plistlib.dumps(value, fmt=FMT_BINARY)
            def write(data, name="out"):
                with open(name, "wb") as file: file.write(data)

            """
        let result = try ChildProcess.run(path, ["-c", prelude + program], directory: directory.path)
        try #require(result.exitCode == 0, "\(result.errorText)")
        defer { withExtendedLifetime(directory) {} }
        return try names.map { try SystemFile.read(directory.path($0)) }
    }
}
