/// One element of DER (X.690): its tag, and where its contents lie.
struct DERElement {
    let tag: UInt8
    let contents: Range<Int>

    /// The element at a position, which ends within the bound; nil for what is none. Only short tags and lengths in their
    /// shortest form.
    init?(in text: SearchText, at position: Int, until bound: Int) {
        guard position + 2 <= bound, text[position] & 0x1F != 0x1F else { return nil }
        tag = text[position]
        var start = position + 2
        var length = Int(text[position + 1])
        if length >= 0x80 {
            let size = length & 0x7F
            guard 1...3 ~= size, start + size <= bound, text[start] != 0 else { return nil }
            length = (0..<size).reduce(0) { $0 << 8 | Int(text[start + $1]) }
            guard length >= 0x80 else { return nil }
            start += size
        }
        guard start + length <= bound else { return nil }
        contents = start..<start + length
    }

    /// The elements within this one, at most so many; nil unless they fill it.
    func parts(in text: SearchText, atMost limit: Int = 16) -> [DERElement]? {
        var parts: [DERElement] = []
        var position = contents.lowerBound
        while position < contents.upperBound {
            guard parts.count < limit, let part = DERElement(in: text, at: position, until: contents.upperBound) else {
                return nil
            }
            parts.append(part)
            position = part.contents.upperBound
        }
        return parts
    }

    static let integer: UInt8 = 0x02
    static let octets: UInt8 = 0x04
    static let identifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
}
