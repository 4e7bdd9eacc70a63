internal import CryptoPrimitives
internal import Sealing

/// A blob, how to open it, and what must come of that.
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
    var limit: Int?

    struct Place {
        var group = "group.com.example.app"
        var kind = BlobKind.record
        var name = "state"

        static let stream = Place(kind: .stream, name: "")
        static let vault = Place(kind: .vault, name: "vault")

        var context: BlobContext { BlobContext(group: group, kind: kind, name: name) }
    }

    /// The file beside the blob.
    var json: String {
        var lines = [
            #"  "description": "\#(description)""#,
            #"  "group": "\#(place.group)""#,
            #"  "kind": "\#(place.kind)""#,
            #"  "name": "\#(place.name)""#,
            #"  "key": "\#(hexadecimal(key.bytes))""#,
            #"  "keyEpoch": \#(key.epoch)"#,
        ]
        if let limit { lines.append(#"  "limit": \#(limit)"#) }
        lines.append(#"  "expected": { \#(expected) }"#)
        return "{\n" + lines.joined(separator: ",\n") + "\n}\n"
    }

    private var expected: String {
        switch outcome {
        case .opens(let plaintext) where plaintext.count <= 256:
            #""result": "ok", "plaintextSize": \#(plaintext.count), "plaintextHex": "\#(hexadecimal(plaintext))""#
        case .opens(let plaintext):
            #""result": "ok", "plaintextSize": \#(plaintext.count), "#
                + #""plaintextBlake2b": "\#(hexadecimal(BLAKE2b.hash(plaintext, count: 32)))""#
        case .refused(let code, let rule):
            #""result": "\#(code.rawValue)", "rule": "R\#(rule)""#
        }
    }
}

/// A group key that everybody knows: for vectors only.
struct VectorKey {
    let bytes: [UInt8]
    var epoch: UInt32

    /// 00, 01 … 1f, epoch 3: the key of nearly all vectors.
    static let a = VectorKey(bytes: Array(0x00...0x1f), epoch: 3)
    /// 80, 81 … 9f, epoch 3.
    static let b = VectorKey(bytes: Array(0x80...0x9f), epoch: 3)

    var sealingKey: SealingKey {
        do {
            return try SealingKey(secret: bytes.withRawBytes { SecretBytes(copying: $0) }, epoch: epoch)
        } catch { fatalError("\(error)") }
    }
}

/// A salt of a vector's own: the same in every run, another one for every name.
func vectorSalt(_ name: String) -> [UInt8] {
    BLAKE2b.hash(Array("SealedState vector \(name)".utf8), count: 32)
}

/// Plaintext that looks different at every chunk boundary.
func patterned(_ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &* 7) }
}

func hexadecimal(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { $0.hexadecimal } }
