import Sealing
import Testing

@Suite struct BlobContextTests {
    @Test func groupKindAndNameEachMakeAnotherPlace() {
        let places = [
            BlobContext(group: "g", kind: .record, name: "n"), BlobContext(group: "g", kind: .record, name: "N"),
            BlobContext(group: "g", kind: .stream, name: "n"), BlobContext(group: "h", kind: .record, name: "n"),
            BlobContext(group: "g", kind: .record, name: ""),
        ]
        #expect(Set(places.map(\.nameTag)).count == places.count)
        #expect(Set(places.map(\.groupTag)).count == 2)
    }

    /// Without the length prefixes the two places would be equal.
    @Test func groupAndNameDoNotRunIntoEachOther() {
        let one = BlobContext(group: "group.a", kind: .record, name: "bc")
        let other = BlobContext(group: "group.ab", kind: .record, name: "c")
        #expect(one.nameTag != other.nameTag)
        #expect(one.groupTag != other.groupTag)
    }
}
