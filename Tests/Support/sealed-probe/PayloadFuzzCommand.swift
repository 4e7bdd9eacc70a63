internal import FoundationEssentials
internal import SealedState
internal import Sealing

/// `payload-fuzz json|bplist FIRST COUNT`: changes payloads at random, by seed, and passes them to the check of their
/// structure and, if it accepts them, to the decoders. Prints the numbers of accepted and of decoded payloads.
///
/// A seed that crashes the decoders ends the process.
func payloadFuzzCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3, let first = UInt64(arguments[1]), let count = UInt64(arguments[2]) else { return 64 }
    let codec: PayloadCodec = arguments[0] == "bplist" ? .binaryPropertyList : .json
    guard let samples = try? FuzzSample.payloads(codec) else { return 1 }
    let limits = StoreOptions().structureLimits
    var (passed, decoded) = (0, 0)
    for seed in first..<first + count {
        var mutation = PayloadMutation(seed: seed)
        let payload = mutation.apply(to: samples[Int(seed % UInt64(samples.count))], codec)
        payload.withUnsafeBytes { bytes in
            guard (try? PayloadCoding.check(bytes, codec, limits)) != nil else { return }
            passed += 1
            let value = try? PayloadCoding.decode(AnyPayload.self, from: bytes, codec: codec, limits: limits)
            let typed = try? PayloadCoding.decode(FuzzSample.self, from: bytes, codec: codec, limits: limits)
            if value != nil || typed != nil { decoded += 1 }
        }
    }
    say("\(passed) \(decoded)")
    return 0
}

/// A value of every kind that a record may contain.
struct FuzzSample: Codable {
    enum Kind: String, Codable { case one, two }
    var text = "plain"
    var wide: String? = "größer 嬢 😀 e\u{301}"
    var numbers = [0, 1, -1, 255, 65_536, Int.max, Int.min]
    var largest = UInt64.max
    var small: Int8 = -3
    var real = -1.5e300
    var float: Float = 0.25
    var isTrue = true
    var kind = Kind.two
    var when = Date(timeIntervalSince1970: 0.5)
    var bytes = Data([0, 1, 2, 255])
    var maybe: [String?] = ["a", nil, "a"]
    var map = ["a": ["b": [1.5, 2.5]], "c": [:]]
    var numbered = [1: "one", -2: "two"]
    var place = URL(string: "https://example.com/a?b=c")
    var id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    static func payloads(_ codec: PayloadCodec) throws -> [[UInt8]] {
        var long = FuzzSample()
        long.text = String(repeating: "x", count: 300)
        long.numbers = Array(0..<300)
        long.map = Dictionary(uniqueKeysWithValues: (0..<20).map { ("key\($0)", ["b": [Double($0)]]) })
        return try [FuzzSample(), long].map {
            Array(try PayloadCoding.encode($0, as: codec, limits: StoreOptions().structureLimits))
        }
    }
}
