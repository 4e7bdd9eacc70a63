import Foundation
import TestSupport

@testable import PropertyLists

/// Values that every format must preserve, and their conversion to and from Foundation.
enum Samples {
    static let everything: PropertyListValue = .dictionary([
        "text": .string("plain"),
        "wide": .string("größer 嬢 😀 \u{FFFD}"),
        "empty": .string(""),
        "quoted": .string("<a href=\"x\">&amp;' \\ \t\n</a>"),
        "numbers": .array([0, 1, -1, 255, 256, 65_535, 65_536, .max, .min].map(PropertyListValue.integer)),
        "largest": .unsigned(.max),
        "reals": .array([0.1, 1.5, -2.25, 1e300, 1e-300, 12345.678].map(PropertyListValue.real)),
        "yes": .bool(true),
        "no": .bool(false),
        "when": .date(date(86_400 * 9_000 + 3723)),
        "long ago": .date(date(-1_000_000_000)),
        "bytes": .data((0..<200).map { UInt8($0) }),
        "no bytes": .data([]),
        "no list": .array([]),
        "no map": .dictionary([:]),
        "nested": .array([.dictionary(["a": .array([.dictionary(["b": .data([1, 2, 3])])])])]),
        "long": .string(String(repeating: "x", count: 70_000)),
        "many": .array((0..<1000).map { .integer($0) }),
    ])

    static func date(_ seconds: Double) -> PropertyListDate {
        guard let date = PropertyListDate(secondsSince2001: seconds) else { preconditionFailure("no such date") }
        return date
    }

    /// Returns a value of any shape, the same for the same generator.
    static func random(using generator: inout SeededGenerator, depth: Int = 4) -> PropertyListValue {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 7), using: &generator) {
        case 0: .bool(.random(using: &generator))
        case 1: .integer(Int64(bitPattern: generator.next()) >> Int64.random(in: 0..<64, using: &generator))
        case 2: .real(Double.random(in: -1e6...1e6, using: &generator))
        case 3: .date(date(Double(Int.random(in: -60_000_000_000..<250_000_000_000, using: &generator))))
        case 4:
            .data(
                (0..<Int.random(in: 0..<90, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
                })
        case 5, 6: .string(text(using: &generator))
        case 7:
            .array(
                (0..<Int.random(in: 0..<6, using: &generator)).map { _ in random(using: &generator, depth: depth - 1) })
        default:
            .dictionary(
                Dictionary(
                    (0..<Int.random(in: 0..<6, using: &generator)).map { _ in
                        (text(using: &generator), random(using: &generator, depth: depth - 1))
                    }, uniquingKeysWith: { first, _ in first }))
        }
    }

    private static func text(using generator: inout SeededGenerator) -> String {
        let pieces = [
            "a", "Z", "0", " ", "\n", "\t", "<", ">", "&", "\"", "'", "]]>", "é", "嬢", "😀", "{", ";", "=", "\\", "$(X)",
        ]
        return (0..<Int.random(in: 0..<12, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? ""
        }
        .joined()
    }
}

extension PropertyListValue {
    /// The value in the types of Foundation's reader and writer.
    var foundation: Any {
        switch self {
        case .bool(let value): value
        case .integer(let value): value
        case .unsigned(let value): value
        case .real(let value): value
        case .date(let value): Date(timeIntervalSinceReferenceDate: value.secondsSince2001)
        case .data(let value): Data(value)
        case .string(let value): value
        case .array(let values): values.map(\.foundation)
        case .dictionary(let members): members.mapValues(\.foundation)
        }
    }
}

enum FoundationOracle {
    static func bytes(of value: PropertyListValue, as format: PropertyListFormat) throws -> [UInt8] {
        Array(
            try PropertyListSerialization.data(
                fromPropertyList: value.foundation, format: format == .binary ? .binary : .xml, options: 0))
    }

    /// Returns whether Foundation reads the same value from the bytes. It compares as `NSObject`s do: numbers of all
    /// kinds by value.
    static func reads(_ bytes: [UInt8], as value: PropertyListValue) throws -> Bool {
        let read = try PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
        guard let read = read as? NSObject else { return isEqual(read, value.foundation) }
        return read.isEqual(value.foundation) || isEqual(read, value.foundation)
    }

    private static func isEqual(_ one: Any, _ other: Any) -> Bool {
        NSArray(array: [one]).isEqual(NSArray(array: [other]))
    }
}
