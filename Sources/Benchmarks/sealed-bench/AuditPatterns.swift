/// Twenty of the audit's rules as regular expressions for ripgrep.
enum AuditPatterns {
    static let ripgrep = [
        #"\b(AKIA|ASIA)[A-Z2-7]{16}\b"#,
        #"\bgh[pousr]_[A-Za-z0-9]{36}\b"#,
        #"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b"#,
        #"\bglpat-[A-Za-z0-9_-]{20}\b"#,
        #"\bxox[baprs]-[A-Za-z0-9-]{10,72}"#,
        #"hooks\.slack\.com/services/T[A-Za-z0-9]+/B[A-Za-z0-9]+/[A-Za-z0-9]{24}"#,
        #"\b[sr]k_live_[A-Za-z0-9]{24,}"#,
        #"\bAIza[A-Za-z0-9_-]{35}"#,
        #"\bGOCSPX-[A-Za-z0-9_-]{28}"#,
        #"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"#,
        #"\bnpm_[A-Za-z0-9]{36}\b"#,
        #"\bpypi-[A-Za-z0-9_-]{50,}"#,
        #"\bsk-ant-[a-z0-9]+-[A-Za-z0-9_-]{90,}"#,
        #"\bhf_[A-Za-z]{34}\b"#,
        #"\bdop_v1_[a-f0-9]{64}\b"#,
        #"\bshpat_[a-fA-F0-9]{32}\b"#,
        #"-----BEGIN [A-Z ]*PRIVATE KEY-----"#,
        #"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"#,
        #"(?i)[a-z+]{3,10}://[^\s:/@]{1,64}:[^\s:/@]{4,64}@"#,
        #"(?i)(password|passwd|secret|token|api_?key)["']?\s*[:=]\s*["']?[^\s"']{8,}"#,
    ]
}
