#ifndef CSQLITE_H
#define CSQLITE_H

// A package that turns the trait "SQLite" off may be built where the library is not installed.
#if __has_include(<sqlite3.h>)
#include <sqlite3.h>

/// Protects a connection from its own file: no statement changes the schema or the file's format, and no text of the
/// schema runs functions. Returns SQLITE_OK or the library's number.
int csqlite_defend(sqlite3 *database);

#endif
#endif
