//! HEAD and loose refs: an id, or a name that stays below `refs/`; and the list of alternates.
#![no_main]

use std::os::unix::ffi::OsStrExt;

use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::fuzzing::{alternates, reference};

fuzz_target!(|data: &[u8]| {
    match reference(data) {
        Ok(Ok(id)) => {
            assert!(data[..40].eq_ignore_ascii_case(id.to_string().as_bytes()));
            assert!(data.get(40).is_none_or(u8::is_ascii_whitespace));
            assert_eq!(reference(format!("{id}\n").as_bytes()), Ok(Ok(id)));
        }
        Ok(Err(name)) => {
            assert!(name.starts_with(b"refs/") && name.len() > 5);
            assert!(name.split(|&byte| byte == b'/').all(|part| !part.is_empty() && !part.starts_with(b".")));
            assert!(!name.iter().any(u8::is_ascii_control) && !name.windows(2).any(|pair| pair == b".."));
            assert_eq!(reference(&[b"ref: ", name.as_slice(), b"\n"].concat()), Ok(Err(name)));
        }
        Err(why) => assert!(!why.is_empty()),
    }
    if let Ok(paths) = alternates(data) {
        let paths: Vec<&[u8]> = paths.iter().map(|path| path.as_os_str().as_bytes()).collect();
        assert!(paths.len() <= data.split(|&byte| byte == b'\n').count());
        assert!(paths.iter().all(|path| !path.contains(&0)));
        let plain = |path: &&&[u8]| !path.is_empty() && !path.starts_with(b"#") && !path.starts_with(b"\"");
        let plain: Vec<&[u8]> = paths.iter().filter(|path| plain(path) && !path.contains(&b'\n')).copied().collect();
        let again = alternates(&plain.join(&b'\n')).unwrap();
        assert!(again.iter().map(|path| path.as_os_str().as_bytes()).eq(plain));
    }
});
