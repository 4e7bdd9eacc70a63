/// Signatures in addresses of Azure storage: `sv=…&sig=…`.
enum SharedAccessSignature {
    static func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        guard text.beginsWord(at: keyword.lowerBound, unlike: .word) else { return nil }
        let end = text.end(of: .signature, from: keyword.upperBound, atMost: 80)
        let signature = keyword.upperBound..<end
        guard (43...64).contains(signature.count), Entropy.bitsPerByte(text.slice(signature)) >= 3.8 else { return nil }
        let around = keyword.lowerBound - 400..<end + 400
        let query = text.slice(around)
        let signed: [StaticString] = ["sv=", "se=", "st=", "sp=", "sr="]
        guard signed.count(where: { query.first($0, in: 0..<query.count) != nil }) >= 2 else { return nil }
        return Detector.Draft(range: signature)
    }
}

extension ByteClass {
    fileprivate static let signature = ByteClass.base64 + ByteClass("%=")
}
