import Glibc
import SharedFiles
import Testing

@Suite struct FileErrorTests {
    @Test(arguments: [
        (ENOENT, FileError.Code.notFound), (EACCES, .permissionDenied), (EPERM, .permissionDenied),
        (ELOOP, .unsafePath), (EXDEV, .unsafePath), (ENOSPC, .noSpace), (EDQUOT, .quotaExceeded), (EROFS, .readOnly),
        (EMFILE, .tooManyOpenFiles), (ENFILE, .tooManyOpenFiles), (ENOTDIR, .notDirectory),
        (EISDIR, .notRegularFile), (EEXIST, .alreadyExists), (ENAMETOOLONG, .invalidName), (ENOSYS, .unsupported),
        (EIO, .io), (9999, .io),
    ])
    func anErrorNumberHasOneCode(_ number: Int32, _ code: FileError.Code) {
        let error = FileError(errno: number, operation: "read", path: "/a b")
        #expect(error.code == code)
        #expect(error.errno == number)
        #expect(!error.advice.isEmpty)
    }

    @Test func anErrorSaysWhatWhereAndWhy() {
        let text = FileError(errno: EACCES, operation: "read", path: "/a b").description
        for part in ["read", "/a b", "EACCES"] { #expect(text.contains(part)) }
    }

    /// A user must not take another user's files.
    @Test func noAdviceSuggestsTakingAnotherUsersFiles() {
        let advice = FileError(.wrongOwner, operation: "trust", path: "/a").advice
        for command in ["chown", "chmod", "rm "] { #expect(!advice.contains(command)) }
    }
}
