internal import CLinux
internal import Glibc

/// A POSIX access control list: rights of single users and groups besides the mode (acl(5)).
///
/// The attribute has the kernel's format, `linux/posix_acl_xattr.h`: a version of 4 bytes, then entries of tag 2,
/// permissions 2 and id 4, little-endian.
package struct AccessControlList: Sendable, Hashable {
    /// An entry of the list.
    package struct Entry: Sendable, Hashable {
        /// The user or group of the entry.
        package let subject: Subject
        /// 4 to read, 2 to write, 1 to execute or search; the list's mask is not applied.
        package let permissions: UInt16
    }

    /// The user or group of an entry.
    package enum Subject: Sendable, Hashable {
        case owner, owningGroup, others
        case user(UInt32)
        case group(UInt32)
    }

    /// Every entry but the mask, in the kernel's order.
    package let entries: [Entry]
    /// The maximum for all subjects except the owner and others; all bits if there is no mask.
    package let mask: UInt16

    /// The entries for single users and groups after the mask is applied; entries without any permission are omitted.
    package var grants: [Entry] {
        entries.compactMap { entry in
            switch entry.subject {
            case .owner, .owningGroup, .others: return nil
            case .user, .group: break
            }
            let permissions = entry.permissions & mask
            return permissions == 0 ? nil : Entry(subject: entry.subject, permissions: permissions)
        }
    }

    /// The owning group's permissions. If there is a list, the group bits of a mode show the mask instead.
    package var owningGroupPermissions: UInt16 {
        (entries.first { $0.subject == .owningGroup }?.permissions ?? 0) & mask
    }

    /// - Returns: nil for bytes that are not a list of version 2.
    package init?(attribute bytes: [UInt8]) {
        guard bytes.count >= 4, bytes.count % 8 == 4, Self.integer(bytes[0..<4]) == 2 else { return nil }
        var entries: [Entry] = []
        var mask: UInt16 = 7
        for start in stride(from: 4, to: bytes.count, by: 8) {
            let permissions = UInt16(Self.integer(bytes[start + 2..<start + 4]))
            let id = Self.integer(bytes[start + 4..<start + 8])
            switch Self.integer(bytes[start..<start + 2]) {
            case 0x01: entries.append(Entry(subject: .owner, permissions: permissions))
            case 0x02: entries.append(Entry(subject: .user(id), permissions: permissions))
            case 0x04: entries.append(Entry(subject: .owningGroup, permissions: permissions))
            case 0x08: entries.append(Entry(subject: .group(id), permissions: permissions))
            case 0x10: mask = permissions
            case 0x20: entries.append(Entry(subject: .others, permissions: permissions))
            default: return nil
            }
        }
        self.entries = entries
        self.mask = mask
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension Descriptor {
    /// The kind of list.
    package enum ListKind: String, Sendable {
        /// The permissions on the file or directory.
        case access = "system.posix_acl_access"
        /// The list that new files in the directory inherit.
        case inherited = "system.posix_acl_default"
    }

    /// Returns the list of an open file or directory; nil if there is no list or the file system does not support
    /// lists.
    ///
    /// - Throws: `FileError` if the system call fails for another reason, or the format is unknown.
    package func accessControlList(_ kind: ListKind) throws(FileError) -> AccessControlList? {
        // XATTR_SIZE_MAX of the kernel.
        let largest = 1 << 16
        var result: Int64 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: largest) { buffer, count in
            result = clinux_get_attribute(rawValue, kind.rawValue, buffer.baseAddress, UInt64(largest))
            count = Int(max(0, result))
        }
        if result == -Int64(ENODATA) || result == -Int64(EOPNOTSUPP) { return nil }
        if result < 0 { throw FileError(errno: Int32(-result), operation: "read the access list of", path: path) }
        guard let list = AccessControlList(attribute: bytes) else {
            throw FileError(errno: EINVAL, operation: "read the access list of", path: path)
        }
        return list
    }
}
