//! The RECORD of an installed distribution: rows that are read can be written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::fuzzing::distribution_record;

fuzz_target!(|data: &[u8]| {
    let Ok(rows) = distribution_record(data) else { return };
    // Each row has at least two commas.
    assert!(2 * rows.len() <= data.iter().filter(|&&byte| byte == b',').count());
    let mut written = String::new();
    for (path, digest) in &rows {
        let digest = digest.as_ref().map_or(String::new(), |digest| format!("sha256={digest}"));
        let quoted = |text: &str| text.replace('"', "\"\"");
        written += &format!("\"{}\",\"{}\",\n", quoted(path), quoted(&digest));
    }
    assert_eq!(distribution_record(written.as_bytes()), Ok(rows));
});
