/// The 16 bytes that keep two uses of one hash, or of one key, apart (RFC 7693, section 2.5).
///
/// Every use in this project has its own, listed in `docs/format.md`.
package struct Personalization: Sendable, Hashable {
    /// The text: exactly 16 bytes of ASCII.
    package let text: StaticString

    /// Wraps a literal of exactly 16 ASCII bytes; another length is a mistake of the programmer and ends the process.
    package init(_ text: StaticString) {
        precondition(text.utf8CodeUnitCount == 16 && text.hasPointerRepresentation, "a personalisation has 16 bytes")
        self.text = text
    }

    @inline(__always)
    var pointer: UnsafePointer<UInt8> { text.utf8Start }

    package static func == (a: Self, b: Self) -> Bool { "\(a.text)" == "\(b.text)" }
    package func hash(into hasher: inout Hasher) { hasher.combine("\(text)") }
}
