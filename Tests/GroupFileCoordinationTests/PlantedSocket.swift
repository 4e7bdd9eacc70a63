import Glibc
import SharedFiles
import TestSupport
import Testing

/// Registrations and messages that a member who knows the format plants in a domain.
enum PlantedSocket {
    static func make() -> Int32 { socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0) }
    static func bind(_ socket: Int32, to path: String) -> Int32 { with(path) { Glibc.bind(socket, $0, $1) } }
    static func connect(_ socket: Int32, to path: String) -> Int32 { with(path) { Glibc.connect(socket, $0, $1) } }

    private static func with(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Returns a registration that claims that process 1 presents these paths.
    static func registration(of paths: [String]) -> [UInt8] {
        var bytes = Array("SPI1".utf8) + [1, 0, 0, 0] + length(paths.count)
        for path in paths { bytes += [UInt8](repeating: 7, count: 8) + length(path.utf8.count) + Array(path.utf8) }
        return bytes
    }

    /// Returns a packet that reports changes of these items.
    static func changes(of paths: [String]) -> [UInt8] {
        var bytes = Array("SPM1".utf8) + [2] + length(paths.count)
        for path in paths { bytes += [1] + length(path.utf8.count) + Array(path.utf8) }
        return bytes
    }

    static let ready = Array("SPM1".utf8) + [3]

    private static func length(_ count: Int) -> [UInt8] { [UInt8(count & 0xFF), UInt8(count >> 8)] }

    static func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
        Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Waits until the other end is closed.
    static func awaitEnd(of socket: Int32) {
        var byte: UInt8 = 0
        while recv(socket, &byte, 1, 0) > 0 {}
    }
}

extension CoordinationSandbox {
    /// Returns the only listening socket.
    func address() throws -> String {
        let names = try SystemFile.names(place.path("domain")).filter { $0.hasSuffix(".socket") }
        return place.path("domain/" + (names.first ?? "none"))
    }

    func connection() throws -> Int32 {
        let client = PlantedSocket.make()
        try #require(PlantedSocket.connect(client, to: try address()) == 0)
        return client
    }
}
