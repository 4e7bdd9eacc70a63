internal import CryptoPrimitives
internal import KeyVault
internal import Sealing

/// A message of a channel: its kind, the number of the request that it belongs to, and a body (docs/spec/channels.md).
struct ChannelFrame: Sendable {
    enum Kind: UInt8, Sendable {
        /// States the writer of an end: the first frame of both.
        case introduction = 0
        /// The body is a value.
        case request = 1
        case reply = 2
        /// Why there is no reply: a code, then text in UTF-8.
        case failure = 3
        /// The client does not wait for the reply any more.
        case cancel = 4
    }

    let kind: Kind
    let id: UInt64
    var body: [UInt8] = []

    static let headerSize = 9

    /// The frame with a failure; its text is cut to 1,024 bytes.
    static func failure(_ failure: ChannelFailure, of id: UInt64) -> ChannelFrame {
        var text = failure.reason.prefix(1024)
        while text.utf8.count > 1024 { text.removeLast() }
        return ChannelFrame(kind: .failure, id: id, body: [failure.code.rawValue] + text.utf8)
    }

    /// The failure in the body; one with an unknown code has failed.
    var failure: ChannelFailure? {
        guard kind == .failure, let code = body.first else { return nil }
        return ChannelFailure(
            code: ChannelFailure.Code(rawValue: code) ?? .failed,
            reason: String(decoding: body.dropFirst(), as: UTF8.self))
    }
}

/// Why a request has no reply.
struct ChannelFailure: Error, Sendable {
    enum Code: UInt8, Sendable {
        /// The listener's rule refuses this peer.
        case refused = 1
        /// The listener answers as many requests as it takes at a time.
        case busy = 2
        /// The listener's program threw an error.
        case failed = 3
        /// The request is not a value of the listener's type.
        case malformed = 4
        /// The group's keys or roster were changed since the handshake: the request was not handled, and a new handshake
        /// is due.
        case rekeyed = 5
        /// The reply is larger than the channel allows.
        case tooLarge = 6
    }

    let code: Code
    var reason = ""
}

/// The sealed form of frames: messages of Noise of at most 65,535 bytes, one behind the other. The plaintext begins with
/// its size, so that no part can be left out.
enum ChannelSealing {
    private static let largestPart = 65_535 - ChaCha20Poly1305.tagSize
    private static let sizeField = 4

    /// The size of the sealed form of a frame with a body of a size.
    static func sealedSize(body: Int) -> Int {
        let plain = sizeField + ChannelFrame.headerSize + body
        return plain + (plain + largestPart - 1) / largestPart * ChaCha20Poly1305.tagSize
    }

    static func seal(_ frame: ChannelFrame, _ cipher: inout NoiseCipher) throws(CryptoError) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(sizeField + ChannelFrame.headerSize + frame.body.count)
        let size = UInt32(ChannelFrame.headerSize + frame.body.count)
        withUnsafeBytes(of: size.littleEndian) { plain.append(contentsOf: $0) }
        plain.append(frame.kind.rawValue)
        withUnsafeBytes(of: frame.id.littleEndian) { plain.append(contentsOf: $0) }
        plain += frame.body
        defer { plain.withUnsafeMutableBytes { ScratchMemory.wipe($0) } }
        var sealed = [UInt8](repeating: 0, count: sealedSize(body: frame.body.count))
        var span = sealed.mutableSpan
        try span.withUnsafeMutableBytes { output throws(CryptoError) in
            try plain.withRawBytes { plain throws(CryptoError) in
                var (start, place) = (0, 0)
                while start < plain.count {
                    let end = min(start + largestPart, plain.count)
                    let next = place + end - start + ChaCha20Poly1305.tagSize
                    try cipher.seal(
                        UnsafeRawBufferPointer(rebasing: plain[start..<end]),
                        into: UnsafeMutableRawBufferPointer(rebasing: output[place..<next]))
                    (start, place) = (end, next)
                }
            }
        }
        return sealed
    }

    /// - Throws: `CryptoError` `.authenticationFailed` for every message that the other end did not send next.
    static func open(_ sealed: [UInt8], _ cipher: inout NoiseCipher) throws(CryptoError) -> ChannelFrame {
        let parts = (sealed.count + 65_534) / 65_535
        let count = sealed.count - parts * ChaCha20Poly1305.tagSize
        guard count >= sizeField + ChannelFrame.headerSize, sealed.count - (parts - 1) * 65_535 > 16 else {
            throw CryptoError(.authenticationFailed, "channel")
        }
        var plain = [UInt8](repeating: 0, count: count)
        defer { plain.withUnsafeMutableBytes { ScratchMemory.wipe($0) } }
        try openParts(sealed, &plain, &cipher)
        let (size, id) = plain.withUnsafeBytes { bytes in
            (
                UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)),
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 5, as: UInt64.self))
            )
        }
        guard Int(size) == count - sizeField, let kind = ChannelFrame.Kind(rawValue: plain[sizeField]) else {
            throw CryptoError(.authenticationFailed, "channel")
        }
        return ChannelFrame(kind: kind, id: id, body: Array(plain.dropFirst(sizeField + ChannelFrame.headerSize)))
    }

    private static func openParts(
        _ sealed: [UInt8], _ plain: inout [UInt8], _ cipher: inout NoiseCipher
    ) throws(CryptoError) {
        var span = plain.mutableSpan
        try span.withUnsafeMutableBytes { output throws(CryptoError) in
            try sealed.withRawBytes { sealed throws(CryptoError) in
                var (start, place) = (0, 0)
                while start < sealed.count {
                    let end = min(start + 65_535, sealed.count)
                    let next = place + end - start - ChaCha20Poly1305.tagSize
                    try cipher.open(
                        UnsafeRawBufferPointer(rebasing: sealed[start..<end]),
                        into: UnsafeMutableRawBufferPointer(rebasing: output[place..<next]))
                    (start, place) = (end, next)
                }
            }
        }
    }
}

/// The first frame of an end: proves the writer's key that its process has, by a signature of the handshake's hash.
enum ChannelIntroduction {
    private static let use = Personalization("SealedState.chi1")

    /// The hash that an end signs: of its role and of the handshake's hash.
    private static func digest(_ role: NoiseRole, _ handshake: [UInt8]) -> [UInt8] {
        BLAKE2b.hash([role.rawValue] + handshake, personalization: use, count: 64)
    }

    /// Returns the body: empty without a key, else the writer's id and the signature.
    static func body(_ key: WriterKey?, _ role: NoiseRole, _ handshake: [UInt8]) -> [UInt8] {
        guard let key else { return [] }
        return key.id.bytes.withUnsafeBytes { Array($0) } + key.sign(digest(role, handshake))
    }

    /// Returns the writer's label in the roster; nil without a roster, for a writer that is not active in it, and for a
    /// label that two active writers have.
    ///
    /// - Throws: `CryptoError` `.authenticationFailed` for a signature that is not the writer's.
    static func writer(
        _ body: [UInt8], _ role: NoiseRole, _ handshake: [UInt8], by authority: RosterAuthority?
    ) throws(CryptoError) -> String? {
        if body.isEmpty { return nil }
        guard body.count == 16 + Ed25519.signatureSize else { throw CryptoError(.authenticationFailed, "writer") }
        let id = WriterID(bytes: body.withUnsafeBytes { Bytes16($0) })
        let roster = authority?.current().roster?.roster
        guard let roster, let writer = roster.writer(id), writer.state == .active else { return nil }
        let trailer = RecordTrailer(rosterVersion: 0, signature: Array(body.dropFirst(16)))
        guard WriterPublicKey.verify(writer.publicKey, trailer, digest(role, handshake)) else {
            throw CryptoError(.authenticationFailed, "writer")
        }
        // A label that two writers have says nothing.
        let namesakes = roster.writers.count { $0.state == .active && $0.label == writer.label }
        return namesakes == 1 ? writer.label : nil
    }
}
