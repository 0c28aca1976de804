//! The list of shallow commits: one id a line, or the number of the first line that is none.
#![no_main]

use gix::bstr::ByteSlice;
use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::fuzzing::shallow;

fuzz_target!(|data: &[u8]| {
    let is_id = |line: &&[u8]| line.len() == 40 && line.iter().all(u8::is_ascii_hexdigit);
    match shallow(data) {
        Ok(ids) => {
            assert!(data.lines().all(|line| is_id(&line)));
            assert!(data.lines().all(|line| ids.contains(&gix::ObjectId::from_hex(line).unwrap())));
            assert!(ids.len() <= data.lines().count());
            let written: String = ids.iter().map(|id| format!("{id}\n")).collect();
            assert_eq!(shallow(written.as_bytes()), Ok(ids));
        }
        Err(why) => {
            let wrong = data.lines().position(|line| !is_id(&line)).unwrap();
            assert_eq!(why, format!("line {}: is no object id", wrong + 1));
        }
    }
});
