internal import FoundationEssentials
internal import SealedState

/// The end that a JSON object names at its top level: `expiresAt`, `expires_at`, `notAfter`, `validUntil`, `exp`.
enum PayloadEnd {
    private struct Fields: Decodable {
        let end: Double?

        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            let named = container.allKeys.filter { PayloadEnd.isEnd($0.stringValue) }
            end = named.compactMap { Self.seconds($0, container) }.min()
        }

        private static func seconds(_ key: Name, _ container: KeyedDecodingContainer<Name>) -> Double? {
            if let text = try? container.decode(String.self, forKey: key) { return PayloadEnd.seconds(in: text) }
            return (try? container.decode(Double.self, forKey: key)).flatMap(PayloadEnd.seconds)
        }
    }

    private static let names: Set<String> = [
        "expiresat", "expires", "expiry", "expirydate", "expirationdate", "expiration", "expireson", "notafter",
        "validuntil", "validto", "exp", "tokenexpiresat", "tokenexpiry", "sessionexpiresat",
    ]

    /// The earliest end, in seconds since 1970; nil where the object names none, or is no object.
    static func find(in json: UnsafeRawBufferPointer) -> Double? {
        (try? JSONCodec.decode(Fields.self, from: json))?.end
    }

    static func isEnd(_ name: String) -> Bool {
        names.contains(String(name.lowercased().filter { $0 != "_" && $0 != "-" }))
    }

    /// A time as text, or as a number written as text.
    static func seconds(in text: String) -> Double? {
        if let number = Double(text) { return seconds(number) }
        return MillisecondTime.date(text)?.timeIntervalSince1970
    }

    /// Seconds or milliseconds since 1970; what is neither, such as a lifetime in seconds, is no time.
    static func seconds(_ number: Double) -> Double? {
        // From 2001 to 2286 in seconds; the same in milliseconds.
        if (1e9..<1e10).contains(number) { return number }
        return (1e12..<1e13).contains(number) ? number / 1000 : nil
    }
}
