/// What form a file, or a value in it, has.
package enum CarrierForm: String, Hashable, Sendable, CaseIterable {
    case text, json, utf16, log
    case xmlPropertyList, binaryPropertyList, openStepPropertyList, keyedArchive
    case sqlite, sqliteLog, sqliteJournal
    case cookies
    case image
    case base64, hex, gzip, zlib
    case binary
}
