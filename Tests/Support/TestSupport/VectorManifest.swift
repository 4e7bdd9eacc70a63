internal import FoundationEssentials

/// The sections of `Fixtures/vectors/manifest.json`.
package enum VectorManifest {
    /// The folder of the manifest.
    package static let folder =
        #filePath.split(separator: "/").dropLast(4).reduce(into: "") { $0 += "/\($1)" } + "/Fixtures/vectors"

    /// Returns the vectors of a section. An unreadable manifest has no vectors, and the suite of the section reports
    /// this.
    package static func entries<Entry: Decodable>(_ section: String, as _: Entry.Type = Entry.self) -> [Entry] {
        guard let bytes = try? SystemFile.read(folder + "/manifest.json"), let key = CodingUserInfoKey.section else {
            return []
        }
        let decoder = JSONDecoder()
        decoder.userInfo[key] = section
        return (try? decoder.decode(Section<Entry>.self, from: Data(bytes)))?.entries ?? []
    }

    private struct Section<Entry: Decodable>: Decodable {
        let entries: [Entry]

        init(from decoder: any Decoder) throws {
            guard let key = CodingUserInfoKey.section, let name = decoder.userInfo[key] as? String else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "No section is named."))
            }
            let sections = try decoder.container(keyedBy: Name.self)
                .nestedContainer(keyedBy: Name.self, forKey: Name(stringValue: "sections"))
            entries = try sections.decode([Entry].self, forKey: Name(stringValue: name))
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension CodingUserInfoKey {
    fileprivate static let section = CodingUserInfoKey(rawValue: "section")
}

/// A file of a vector.
package struct VectorFile: Decodable, Sendable {
    /// The path in the directory that the reader opens; `nil` for a vector of one file.
    package let path: String?
    private let file: String
    private let mode: String?

    package func bytes() throws -> [UInt8] { try SystemFile.read("\(VectorManifest.folder)/\(file)") }

    package var permissions: UInt32 { mode.flatMap { UInt32($0, radix: 8) } ?? 0o600 }
}

/// Bytes in hexadecimal.
package struct VectorBytes: Decodable, Hashable, Sendable {
    package let bytes: [UInt8]

    package init(from decoder: any Decoder) throws {
        let text = Array(try decoder.singleValueContainer().decode(String.self).utf8)
        bytes = try stride(from: 0, to: text.count, by: 2).map { start in
            guard let byte = UInt8(String(decoding: text[start..<min(start + 2, text.count)], as: UTF8.self), radix: 16)
            else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "No hexadecimal."))
            }
            return byte
        }
    }
}

/// Contents as a vector states them: the size, and the bytes if there are at most 1,024.
package struct VectorContents: Decodable, Sendable {
    private let size: Int
    private let hex: VectorBytes?

    /// Returns `true` if the bytes match. Of larger contents only the size is compared.
    package func isSame(as bytes: some Collection<UInt8>) -> Bool {
        bytes.count == size && hex.map { $0.bytes.elementsEqual(bytes) } ?? true
    }
}
