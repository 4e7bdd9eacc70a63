internal import CryptoPrimitives
internal import Glibc
internal import Sealing

/// A blob, how to open it, and the expected result.
struct Vector {
    enum Outcome {
        case opens(to: [UInt8])
        case refused(SealingError.Code, rule: Int)
    }

    let name: String
    let description: String
    let blob: [UInt8]
    let outcome: Outcome
    /// The place and the key that the reader opens it with.
    var place = Place()
    var key = VectorKey.a
    /// The minimum epoch of the reader's vault.
    var minimumEpoch: UInt32 = 1
    var limit: Int?
    /// All rules that the blob breaks, if it breaks more than one.
    var faults: [Int] = []
    /// True if the result applies only to readers of whole blobs.
    var isForWholeReaders = false
    /// The most plaintext that an early-releasing reader of a refused stream may have released.
    var released: [UInt8] = []
    /// The recipe of a blob that is too large to be stored as a file.
    var recipe: StreamRecipe?

    struct Place {
        var group = "group.com.example.app"
        var kind = BlobKind.record
        var name = "state"

        static let stream = Place(kind: .stream, name: "")
        static let namedStream = Place(kind: .stream, name: "backups/2026")
        static let vault = Place(kind: .vault, name: "vault")

        var context: BlobContext { BlobContext(group: group, kind: kind, name: name) }
    }
}

/// The entry of a vector in the section `blob` of `manifest.json`.
extension Vector {
    var entry: ManifestValue {
        var members: [(String, ManifestValue)] = [("name", .text(name)), ("description", .text(description))]
        if let recipe {
            members.append(("generate", recipe.entry))
        } else {
            members.append(("file", .text("blobs/\(name).seal")))
        }
        members += [("size", .number(UInt64(blob.count))), ("sha256", .hex(sha256(blob))), ("reader", reader)]
        if isForWholeReaders { members.append(("readers", .list([.text("whole")]))) }
        if !faults.isEmpty { members.append(("faults", .list(faults.map { .text("R\($0)") }))) }
        members.append(("expected", expected))
        if blob.count >= 144 { members.append(("intermediate", intermediate)) }
        if place.kind == .stream { members.append(("earlyRelease", Self.contents(earlyRelease, withBytes: false))) }
        return .object(members)
    }

    private var reader: ManifestValue {
        var members: [(String, ManifestValue)] = [
            ("group", .text(place.group)), ("kind", .text("\(place.kind)")), ("name", .text(place.name)),
            ("key", .hex(key.bytes)), ("keySuite", .number(UInt64(key.suite))),
            ("keyEpoch", .number(UInt64(key.epoch))), ("minimumEpoch", .number(UInt64(minimumEpoch))),
        ]
        if let limit { members.append(("limit", .number(UInt64(limit)))) }
        return .object(members)
    }

    private var expected: ManifestValue {
        switch outcome {
        case .opens(let plaintext):
            .object([("result", .text("ok")), ("plaintext", Self.contents(plaintext, withBytes: true))])
        case .refused(let code, let rule):
            .object([("result", .text(code.rawValue)), ("rule", .text("R\(rule)"))])
        }
    }

    private var earlyRelease: [UInt8] {
        if case .opens(let plaintext) = outcome { return plaintext }
        return released
    }

    private static func contents(_ bytes: [UInt8], withBytes: Bool) -> ManifestValue {
        var members: [(String, ManifestValue)] = [
            ("size", .number(UInt64(bytes.count))), ("sha256", .hex(sha256(bytes))),
        ]
        if withBytes && bytes.count <= 1024 { members.append(("hex", .hex(bytes))) }
        return .object(members)
    }

    /// The values that a reader derives with its own place and key before the result.
    private var intermediate: ManifestValue {
        let derived = BLAKE2b.hash(
            Array(blob[..<144]), key: key.bytes, personalization: Personalization("SealedState.sub1"), count: 64)
        let tags = BlobForge("intermediate", place: place, key: key).fields
        return .object([
            ("groupTag", .hex(tags[16..<32])), ("nameTag", .hex(tags[32..<48])), ("keyID", .hex(tags[48..<64])),
            ("singleUseKey", .hex(derived[..<32])), ("commitment", .hex(derived[32...])),
        ])
    }
}

/// A publicly known group key, for vectors only.
struct VectorKey {
    let bytes: [UInt8]
    var epoch: UInt32
    var suite: UInt8 = 1

    /// 00, 01 … 1f, epoch 3: the key of nearly all vectors.
    static let a = VectorKey(bytes: Array(0x00...0x1f), epoch: 3)
    /// 80, 81 … 9f, epoch 3.
    static let b = VectorKey(bytes: Array(0x80...0x9f), epoch: 3)
    /// The first key, in a keyring that states a suite which this version does not implement.
    static let ofAnotherSuite = VectorKey(bytes: a.bytes, epoch: 3, suite: 2)

    var sealingKey: SealingKey {
        do {
            return try SealingKey(secret: bytes.withRawBytes { SecretBytes(copying: $0) }, epoch: epoch)
        } catch { fatalError("\(error)") }
    }
}

/// Returns the salt of a vector: the same in every run, and different for every name.
func vectorSalt(_ name: String) -> [UInt8] {
    BLAKE2b.hash(Array("SealedState vector \(name)".utf8), count: 32)
}

/// Returns plaintext that differs at every chunk boundary.
func patterned(_ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &* 7) }
}

func hexadecimal(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { $0.hexadecimal } }

/// Returns SHA-256 by libsodium. The library itself does not use it, so it is looked up by name.
func sha256(_ bytes: [UInt8]) -> [UInt8] {
    typealias Hash = @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, UInt64) -> Int32
    guard let symbol = dlsym(nil, "crypto_hash_sha256") else { fatalError("libsodium has no crypto_hash_sha256") }
    let hash = unsafeBitCast(symbol, to: Hash.self)
    var output = [UInt8](repeating: 0, count: 32)
    _ = bytes.withUnsafeBytes { bytes in
        output.withUnsafeMutableBytes { hash($0.baseAddress, bytes.baseAddress, UInt64(bytes.count)) }
    }
    return output
}
