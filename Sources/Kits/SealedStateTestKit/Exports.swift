// A test of records names them and their stores: one import is enough.
@_exported public import SealedState
