import Testing

@testable import SecretDetection

/// Tests of passwords on command lines.
@Suite struct CommandPasswordTests {
    @Test(arguments: [
        "mysql -p{s}", "mysql -h db.internal -uroot -p{s} shop",
        "mysqldump --single-transaction -p'{s}' shop > dump.sql",
        "$ mariadb-admin -uroot -p\"{s}\" status", "sshpass -p {s} ssh ada@host", "sshpass -p'{s}' scp a host:",
        "redis-cli -h cache -a {s} ping", "curl -u ada:{s} https://host.test/",
        "curl -sSf --user 'ada:{s}' https://host.test",
    ]) func aPasswordOfACommandIsFound(_ form: String) {
        for seed in UInt64(1)...4 {
            let password = SecretSample("", "S3cr{an6}99").drawn(seed: seed)
            let line = form.replacing("{s}", with: password)
            for text in [line, "cd /srv\n\(line)\nls\n", "{\"cmd\": \"\(line.filter { $0 != "\"" })\"}"] {
                #expect(Found.all(in: text).map { Found.text($0, of: text) } == [password], "seed \(seed)")
                #expect(Found.isSuspicious(text))
            }
        }
        #expect(Found.all(in: "mysql -pS3cr3tPw99").map(\.rule.id) == ["command.password"])
    }

    @Test(arguments: [
        "mysql -p", "mysql -u root -p shop99x", "mysql -p$MYSQL_PW1", "mysql -p\"${PW1}\" shop",
        "docker run mysql -p3306:3306",
        "docker run -d mysql -p 127.0.0.1:3306", "sshpass -e ssh host", "sshpass -p $PASS1 ssh host",
        "sshpass -p <password> ssh", "redis-cli -p 6379", "redis-cli -a $REDIS_PW1",
        "mysql -pchangeme", "mysql; nc -pS3cr3tPw99", "see mysql-pS3cr3tPw99 for more", "mymysql -pS3cr3tPw99",
    ]) func whatIsNoPasswordIsNotFound(_ text: String) { #expect(Found.all(in: text).isEmpty) }
}
