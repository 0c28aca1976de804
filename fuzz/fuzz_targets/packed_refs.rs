//! packed-refs: every line is a ref, a peeled id or the header; what was read can be written and read again.
#![no_main]

use gix::bstr::ByteSlice;
use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::fuzzing::packed_refs;

fuzz_target!(|data: &[u8]| match packed_refs(data) {
    Ok(refs) => {
        let lines: Vec<&[u8]> = data.lines_with_terminator().collect();
        assert!(lines.iter().all(|line| line.ends_with(b"\n")));
        let header = usize::from(data.starts_with(b"#"));
        let peeled = lines.iter().filter(|line| line.starts_with(b"^")).count();
        assert_eq!(refs.len() + peeled + header, lines.len());
        assert!(peeled <= refs.len());
        let mut written = Vec::new();
        for (name, id) in &refs {
            written.extend_from_slice(format!("{id} ").as_bytes());
            written.extend_from_slice(name);
            written.push(b'\n');
        }
        assert_eq!(packed_refs(&written).as_ref(), Ok(&refs));
        // Nothing may follow that is no line of its own.
        assert!(packed_refs(&[data, b"x"].concat()).is_err());
    }
    Err(why) => {
        let rest = why.strip_prefix("line ").unwrap();
        let (line, _) = rest.split_once(": ").unwrap();
        let line: usize = line.parse().unwrap();
        assert!(line >= 1 && line <= data.lines_with_terminator().count());
        // What stands before that line was sound.
        let before: Vec<u8> = data.lines_with_terminator().take(line - 1).collect::<Vec<_>>().concat();
        assert!(packed_refs(&before).is_ok());
    }
});
