// The types that the signatures of groups and containers name, one by one.
@_exported public import struct PropertyLists.PropertyListDate
@_exported public import enum PropertyLists.PropertyListValue
@_exported public import struct SharedFiles.ErrorDetails
@_exported public import struct SharedFiles.FileError
@_exported public import enum SharedFiles.Sharing
@_exported public import protocol SharedFiles.StructuredError
