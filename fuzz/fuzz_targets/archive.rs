//! A wheel (after an even byte) or an sdist (after an odd one, its tar not compressed): what is read has plain names, each once, and
//! stays within the bounds.
#![no_main]

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::archive::{Format, members};
use paired_sdk_gate::limits::{Budget, Limits};

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let (format, bytes) = if first % 2 == 0 { (Format::Zip, rest.to_vec()) } else { (Format::TarGz, gzip(rest)) };
    let limits = Limits { package_files: 20, file_bytes: 1 << 12, package_bytes: 1 << 14, ..Limits::default() };
    let (mut names, mut total) = (BTreeSet::new(), 0);
    let read = members(format, &bytes, &Budget::start(limits, Arc::default()), &mut |name, content| {
        assert!(names.insert(name.to_owned()), "{name} is read twice");
        assert!(!name.split('/').any(|part| matches!(part, "" | "." | "..")), "{name}");
        assert!(content.len() <= 1 << 12);
        total += content.len();
    });
    assert!(names.len() <= 20 && total <= 1 << 14);
    if read.is_ok() && format == Format::Zip {
        // Nothing can be hidden before or after it, so it can be read again in one way only.
        let more = [bytes, vec![0]].concat();
        assert!(members(format, &more, &Budget::start(Limits::default(), Arc::default()), &mut |_, _| ()).is_err());
    }
});

fn gzip(tar: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    // Writing to a vector cannot fail.
    let _ = gzip.write_all(tar);
    gzip.finish().unwrap_or_default()
}
