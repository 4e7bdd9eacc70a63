internal import CryptoPrimitives
internal import Sealing

/// The recipe of a stream that is too large to be stored as a file.
struct StreamRecipe {
    /// The fault, if any.
    enum Change {
        /// The blob is cut to this number of bytes.
        case cut(to: Int)
        /// The lowest bit of the byte at this offset of the blob is inverted.
        case flippedBit(at: Int)
        /// Chunk i is sealed with the index i mod this number.
        case indexModulo(UInt64)
    }

    let seed: String
    let size: Int
    var change: Change?

    var entry: ManifestValue {
        var members: [(String, ManifestValue)] = [
            ("seed", .text(seed)), ("plaintextSize", .number(UInt64(size))), ("salt", .hex(vectorSalt(seed))),
            ("sealedAt", .number(1_700_000_000_000)),
        ]
        switch change {
        case .cut(let size): members.append(("cutTo", .number(UInt64(size))))
        case .flippedBit(let offset): members.append(("flipBitAt", .number(UInt64(offset))))
        case .indexModulo(let modulus): members.append(("indexModulo", .number(modulus)))
        case nil: break
        }
        return .object(members)
    }

    /// The plaintext. Block i of 64 bytes is BLAKE2b-512 of the seed and of i as a `u64`.
    var plaintext: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + 64)
        for block in 0..<UInt64((size + 63) / 64) {
            bytes += BLAKE2b.hash(Array(seed.utf8) + integer(block), count: 64)
        }
        return Array(bytes[..<size])
    }
}

/// Returns streams of 257 chunks, whose index no longer fits a byte.
func generatedStreams() -> [Vector] {
    let size = 256 * BlobLayout.chunkSize + 1000
    let recipe = StreamRecipe(seed: "stream-257-chunks", size: size)
    let plaintext = recipe.plaintext
    let good = sealed(plaintext, recipe)
    let chunk = BlobLayout.sealedChunkSize
    let (cut, flipped) = (BlobLayout.headerSize + 256 * chunk, good.count - 20)
    var damaged = good
    damaged[flipped] ^= 1
    let whole = Array(plaintext[..<(256 * BlobLayout.chunkSize)])
    return [
        generated(
            "good-stream-257-chunks", "A stream whose last index has two bytes.", good, .opens(to: plaintext), recipe),
        generated(
            "r24-stream-257-chunks-damaged", "A bit of the last chunk's text was changed.", damaged, refused,
            recipe.with(.flippedBit(at: flipped)), released: whole),
        generated(
            "r24-stream-257-chunks-cut", "The last chunk is gone.", Array(good[..<cut]), refused,
            recipe.with(.cut(to: cut)), released: Array(plaintext[..<(255 * BlobLayout.chunkSize)])),
        generated(
            "r24-stream-257-chunks-index-of-a-byte", "Indices begin again at 0 after 255.",
            sealed(plaintext, recipe, modulo: 256), refused, recipe.with(.indexModulo(256)), released: whole),
    ]
}

private let refused = Vector.Outcome.refused(.tampered, rule: 24)

extension StreamRecipe {
    fileprivate func with(_ change: Change) -> StreamRecipe { StreamRecipe(seed: seed, size: size, change: change) }
}

private func generated(
    _ name: String, _ description: String, _ blob: [UInt8], _ outcome: Vector.Outcome, _ recipe: StreamRecipe,
    released: [UInt8] = []
) -> Vector {
    Vector(
        name: name, description: description, blob: blob, outcome: outcome, place: .stream, released: released,
        recipe: recipe)
}

private func sealed(_ plaintext: [UInt8], _ recipe: StreamRecipe, modulo: UInt64 = .max) -> [UInt8] {
    let chunks = stride(from: 0, to: plaintext.count, by: BlobLayout.chunkSize).map { start in
        let end = min(start + BlobLayout.chunkSize, plaintext.count)
        return BlobForge.Chunk(
            Array(plaintext[start..<end]), index: UInt64(start / BlobLayout.chunkSize) % modulo,
            isLast: end == plaintext.count)
    }
    return BlobForge(recipe.seed, place: .stream).sealed(chunks: chunks)
}
