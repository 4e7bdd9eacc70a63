/// A file, or a decoded value, that is to be read.
package struct CarrierInput {
    package let source: any ByteSource
    /// The file's name without directories; empty for a decoded value. It may decide between forms that look alike.
    package let name: String
    /// Opens a file beside it by name: a log's database, a database's external files (`.App_SUPPORT/_EXTERNAL_DATA/UUID`).
    /// Nil where there is none.
    package let sibling: (String) -> (any ByteSource)?

    package init(
        _ source: any ByteSource, name: String = "", sibling: @escaping (String) -> (any ByteSource)? = { _ in nil }
    ) {
        self.source = source
        self.name = name
        self.sibling = sibling
    }
}
