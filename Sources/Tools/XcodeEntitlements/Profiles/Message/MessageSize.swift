/// How many elements a DER or BER encoding has, told from its headers alone.
///
/// The ASN.1 parser makes a node of some hundred bytes for each element before anybody can look at one: 4 MiB of empty
/// elements would become 200 MiB. Nothing is allocated here. The parser meets the same headers in the same order, up to
/// where it finds the first fault, so that it never makes more nodes than are counted.
enum MessageSize {
    /// A profile in pieces of 1,000 bytes, as streaming signers write it, stays below this up to its largest size.
    static let mostElements = 8192

    /// Refuses an encoding of too many elements; one that is cut or has a header of no known form is left to the parser.
    static func check(_ bytes: ArraySlice<UInt8>, of part: String) throws(ProvisioningError) {
        var headers = HeaderScanner(rest: bytes)
        var count = 0
        while headers.skip() {
            count += 1
            guard count <= mostElements else {
                throw .tooLarge(part, "it has more than \(mostElements) elements")
            }
        }
    }
}

/// Steps from header to header: into an element that has others in it, over one that has not.
private struct HeaderScanner {
    var rest: ArraySlice<UInt8>

    /// False at the end, and where no header can be told.
    mutating func skip() -> Bool {
        guard let identifier = rest.popFirst() else { return false }
        if identifier & 0x1F == 0x1F { skipNumber() }
        guard let first = rest.popFirst() else { return false }
        let isConstructed = identifier & 0x20 != 0
        // An indefinite length: the contents follow, up to an empty element of type 0.
        if first == 0x80 { return isConstructed }
        guard let length = length(first) else { return false }
        if isConstructed { return true }
        guard length <= rest.count else { return false }
        rest = rest.dropFirst(length)
        return true
    }

    /// A tag's number in the long form, seven bits a byte.
    private mutating func skipNumber() {
        while let byte = rest.popFirst(), byte & 0x80 != 0 {}
    }

    private mutating func length(_ first: UInt8) -> Int? {
        guard first & 0x80 != 0 else { return Int(first) }
        let count = Int(first & 0x7F)
        guard count <= rest.count else { return nil }
        let digits = rest.prefix(count).drop { $0 == 0 }
        rest = rest.dropFirst(count)
        // Seven bytes are more than any file and less than what overflows.
        return digits.count < 8 ? digits.reduce(0) { $0 << 8 | Int($1) } : nil
    }
}
