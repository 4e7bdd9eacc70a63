/// A run of text that looks like something else written in letters: base64 or hexadecimal digits of a carrier.
package struct WrappedRun: Sendable, Hashable {
    package enum Encoding: String, Sendable, Hashable { case base64, base64url, hex }
    package let range: Range<Int>
    package let encoding: Encoding

    package init(range: Range<Int>, encoding: Encoding) {
        self.range = range
        self.encoding = encoding
    }
}
