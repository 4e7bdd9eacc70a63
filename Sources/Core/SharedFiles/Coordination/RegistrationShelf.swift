internal import Synchronization

/// The registrations of a domain. One that was seen before and has not changed since is not read again.
///
/// Any member can put any number of files there, so nothing here goes on past the limit, and there are most files and bytes.
final class RegistrationShelf: Sendable {
    /// The most registrations that a domain may hold together, in bytes.
    static let maximumBytes = 4 << 20
    /// Two versions within one tick of the file system's clock have one time, so what is younger than this is read again.
    private static let settledAge: Int64 = 1_000_000_000

    private let known = Mutex<[String: Known]>([:])

    private struct Known {
        let stamp: FileAttributes
        /// Nil for what is no registration.
        let registration: PresenterRegistration?
    }

    /// Every process's registration but one, in the order of their names. What is not one is passed over.
    ///
    /// - Throws: `cancelled`, `presenterTimeout` where the limit was over first, `presenterFailed` where there are too many.
    func all(
        in domain: CoordinationDomain, except own: String?, _ limit: WaitLimit
    ) throws(FileError) -> [PresenterRegistration] {
        let before = known.withLock { $0 }
        var now: [String: Known] = [:]
        for (index, (name, stamp)) in try Self.stamps(in: domain, except: own, limit).enumerated() {
            // The first few are always read: what an idle machine does at once must not fail on a busy one.
            if index % 8 == 7 { try limit.requireTimeForPresenters(domain.directory.display(".")) }
            let seen = before[name]
            now[name] = seen?.stamp == stamp ? seen : try Self.read(name, stamp, in: domain)
        }
        let age = SystemTime.nanoseconds - Self.settledAge
        known.withLock { $0 = now.filter { $0.value.stamp.modifiedNanoseconds < age } }
        return now.sorted { $0.key < $1.key }.compactMap(\.value.registration)
    }

    /// All that may be registrations by name, kind and size, in the order of their names. Nothing is opened for it.
    private static func stamps(
        in domain: CoordinationDomain, except own: String?, _ limit: WaitLimit
    ) throws(FileError) -> [(name: String, stamp: FileAttributes)] {
        var found: [(name: String, stamp: FileAttributes)] = []
        var size: Int64 = 0
        for name in try RegistrationNames.all(in: domain, limit).sorted() where name != own {
            let file = name + PresenterRegistration.itemsSuffix
            guard let stamp = try? domain.directory.attributes(ofLeaf: file), stamp.kind == .regular,
                stamp.size <= PresenterRegistration.maximumSize
            else { continue }
            size += stamp.size
            if size > maximumBytes { throw .tooManyRegistrations(domain.directory.display(".")) }
            found.append((name, stamp))
        }
        return found
    }

    private static func read(
        _ name: String, _ stamp: FileAttributes, in domain: CoordinationDomain
    ) throws(FileError) -> Known? {
        do throws(FileError) {
            let file = name + PresenterRegistration.itemsSuffix
            let bytes = try domain.directory.read(file, limit: PresenterRegistration.maximumSize)
            return Known(stamp: stamp, registration: PresenterRegistration(name: name, bytes))
        } catch {
            // This process's own trouble must not make it overlook a presenter; another's file may.
            if error.code == .tooManyOpenFiles || error.code == .io { throw error }
            return nil
        }
    }
}
