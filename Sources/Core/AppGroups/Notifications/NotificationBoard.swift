internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The files behind a group's notifications: `.notifications/<name>` in the container, 16 bytes each.
///
/// A post overwrites them with 16 new random bytes in one write, not synced: a notification need not outlive the
/// machine. Two simultaneous posts leave the bytes of one (a write holds the file's lock in the kernel). A reader that
/// sees a mixture still sees a new value, and the event of the later post follows.
///
/// The container is located and checked each time: it may have been removed and recreated under another name.
struct NotificationBoard: Sendable {
    let group: AppGroup
    let home: GroupsHome

    /// Returns the file's current path, for the monitor. If the container can't be located, the path is that of a
    /// container with the group's name.
    func path(_ name: NotificationName) -> String {
        let container =
            (try? GroupContainer.place(of: group, in: home)) ?? home.containersPath.appending(group.identifier)
        return container.appending(ContainerLayout.notifications).appending(name.fileName).string
    }

    /// The file that changes when the group's container moves or is given up.
    var registryPath: String { GroupRegistry(group, in: home).path }

    func post(_ name: NotificationName) throws(AppGroupError) {
        let (folder, sharing) = try folder(creating: true)
        do throws(FileError) {
            // Only a member that keeps removing the file can cause another round.
            for _ in 0..<32 {
                let flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK
                let file = try folder.openOrMake(name.fileName, flags, mode: sharing.fileMode, "post to")
                try requireOwn(file, in: folder, name)
                try write(.random(), to: file)
                // A post to a file that has lost its name reaches no observer.
                if try file.attributes().nlink > 0 { return }
            }
            throw FileError(.notFound, operation: "post to", path: folder.display(name.fileName))
        } catch {
            throw AppGroupError(error, withNotification: name.string)
        }
    }

    /// - Throws: all errors except a missing container or file, which is the state before the first post.
    func token(_ name: NotificationName) throws(AppGroupError) -> GroupNotificationToken {
        let folder: Directory
        do throws(AppGroupError) {
            folder = try self.folder(creating: false).directory
        } catch {
            if error.meansNoContainer { return .none }
            throw error
        }
        do throws(FileError) {
            return try token(name, in: folder)
        } catch {
            if error.code == .notFound { return .none }
            throw AppGroupError(error, withNotification: name.string)
        }
    }

    private func token(_ name: NotificationName, in folder: Directory) throws(FileError) -> GroupNotificationToken {
        let file = try folder.openForReading(name.fileName)
        try requireOwn(file, in: folder, name)
        let token = try withUnsafeTemporaryAllocation(byteCount: GroupNotificationToken.size, alignment: 1) {
            (buffer) throws(FileError) in
            [UInt8](buffer[..<(try file.pread(into: buffer, at: 0))])
        }
        // Created and not yet written: no post.
        return token.count == GroupNotificationToken.size ? GroupNotificationToken(bytes: token) : .none
    }

    private func write(_ token: GroupNotificationToken, to file: borrowing Descriptor) throws(FileError) {
        try token.bytes.withUnsafeBufferPointer { (bytes) throws(FileError) in
            try file.write(UnsafeRawBufferPointer(bytes))
        }
    }

    private func folder(creating: Bool) throws(AppGroupError) -> (directory: Directory, sharing: Sharing) {
        guard let found = try ContainerFinder(group: group, home: home).find() else { throw missing }
        let root = found.root
        do throws(FileError) {
            let sharing = try root.requireTrusted()
            let folder = try open(in: root, sharing, creating: creating)
            try folder.requireSharing(sharing)
            return (folder, sharing)
        } catch {
            throw AppGroupError(error, openingContainerOf: group)
        }
    }

    private var missing: AppGroupError {
        let path = home.containersPath.appending(group.identifier).string
        return AppGroupError(
            FileError(errno: ENOENT, operation: "open the directory", path: path), openingContainerOf: group)
    }

    private func open(in root: Directory, _ sharing: Sharing, creating: Bool) throws(FileError) -> Directory {
        do throws(FileError) {
            return try root.directory(ContainerLayout.notifications)
        } catch {
            guard creating, error.code == .notFound else { throw error }
            return try root.makeDirectory(ContainerLayout.notifications, sharing: sharing)
        }
    }

    /// Rejects planted files that would cause another file to be overwritten: a second link to another file, or another
    /// file moved here.
    private func requireOwn(
        _ file: borrowing Descriptor, in folder: Directory, _ name: NotificationName
    ) throws(FileError) {
        let facts = try file.attributes()
        let path = folder.display(name.fileName)
        guard facts.kind == .regular else { throw FileError(.notRegularFile, operation: "post to", path: path) }
        let place = try folder.attributes(".")
        let isKnown = [geteuid(), 0, place.uid].contains(facts.uid) || place.sharing == .unixGroup(facts.gid)
        guard facts.nlink <= 1, facts.size <= GroupNotificationToken.size, isKnown else {
            throw FileError(
                .unsafePath, operation: "use the notification's file", path: path,
                advice: "It has a second name, another owner or other content; see what it is and remove it: ls -l "
                    + "\(path.shellQuoted)")
        }
    }
}
