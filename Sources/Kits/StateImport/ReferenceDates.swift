internal import CryptoPrimitives
internal import FoundationEssentials
internal import PropertyLists
internal import SealedState

/// Dates in the default format of Foundation's `JSONEncoder`, seconds since 2001, converted into the text that records
/// have.
///
/// Such a number has no mark of a date, so the user has to name the keys.
struct ReferenceDates {
    /// The replacements of byte ranges, in their order.
    private var replacements: [(range: Range<Int>, text: [UInt8])] = []
    /// The keys under which a number was found.
    private(set) var found: Set<String> = []

    private let json: UnsafeRawBufferPointer
    private var position = 0

    /// - Parameters:
    ///   - json: Valid JSON.
    ///   - keys: The keys that have dates, at any depth.
    init(in json: UnsafeRawBufferPointer, under keys: Set<String>) {
        self.json = json
        while position < json.count {
            guard json[position] == UInt8(ascii: "\"") else {
                position += 1
                continue
            }
            let key = text()
            skipSpace()
            guard position < json.count, json[position] == UInt8(ascii: ":"), keys.contains(key) else { continue }
            position += 1
            skipSpace()
            number(under: key)
        }
    }

    /// Returns the JSON with the dates as text.
    func converted() -> PlaintextBuffer {
        let grown = replacements.reduce(0) { $0 + $1.text.count - $1.range.count }
        var result = PlaintextBuffer(count: json.count + grown)
        result.withUnsafeMutableBytes { output in
            var target = 0
            var start = 0
            for (range, text) in replacements + [(json.count..<json.count, [])] {
                let kept = UnsafeRawBufferPointer(rebasing: json[start..<range.lowerBound])
                UnsafeMutableRawBufferPointer(rebasing: output[target...]).copyMemory(from: kept)
                target += kept.count
                UnsafeMutableRawBufferPointer(rebasing: output[target...]).copyBytes(from: text)
                target += text.count
                start = range.upperBound
            }
        }
        return result
    }

    /// Returns the text that begins here, as written, with its escapes; the position is behind it afterwards.
    private mutating func text() -> String {
        let start = position + 1
        position = start
        while position < json.count, json[position] != UInt8(ascii: "\"") {
            position += json[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        let end = min(position, json.count)
        position = end + 1
        return String(decoding: json[start..<end], as: UTF8.self)
    }

    private mutating func skipSpace() {
        while position < json.count, [0x20, 0x09, 0x0A, 0x0D].contains(json[position]) { position += 1 }
    }

    private mutating func number(under key: String) {
        let start = position
        while position < json.count, "-+.eE0123456789".utf8.contains(json[position]) { position += 1 }
        guard let seconds = Double(String(decoding: json[start..<position], as: UTF8.self)),
            let text = DateText.string(from: Date(timeIntervalSinceReferenceDate: seconds))
        else { return }
        found.insert(key)
        replacements.append((start..<position, Array("\"\(text)\"".utf8)))
    }
}
