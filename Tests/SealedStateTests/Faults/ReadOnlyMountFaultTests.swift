import AppGroups
import TestSupport
import Testing

/// Tests of a file system that the administrator, or the kernel after an error, has made read-only.
@Suite(.timeLimit(.minutes(10))) struct ReadOnlyMountFaultTests {
    @Test(.enabled(if: SystemCallFaultTests.canMount, "needs the right to mount"))
    func everyChangeIsRefusedAsReadOnlyAndReadersAreUnaffected() throws {
        let fixture = try StoreFixture()
        // The mount is visible only to this shell and its children, and ends with them.
        let script = """
            mount -t tmpfs -o mode=700 none "$1"
            change() { "$0" store-change "$home" "$group" "$@"; }
            home=$1 group=$2
            change write 1
            mount -o remount,ro "$home"
            for verb in write update delete purge; do change $verb 2; done
            "$0" store-read "$home" "$group"
            mount -o remount,rw "$home"
            change update 3
            "$0" store-read "$home" "$group"
            find "$home" -name '.*.new'
            """
        let words = [
            "-m", "/bin/sh", "-c", script, builtProduct("sealed-probe"), fixture.place.path, fixture.group.identifier,
        ]
        let lines = try ChildProcess.run("/usr/bin/unshare", words).outputText.split(separator: "\n").map(String.init)
        #expect(lines == ["done", "readOnly", "readOnly", "readOnly", "readOnly", "1 1 1", "done", "3 1 2"])
    }
}
