//! Loose objects: read exactly when a plain decoder finds one whole object and nothing else, whatever size the header claims.
//!
//! The first byte says what the rest is: the file as it is, or content that is still to be packed, so that checksums are right.
#![no_main]

use std::io::Write;
use std::sync::Arc;

use gix::hash::Kind::Sha1;
use gix::objs::Kind;
use gix::zlib::{Compression, Decompress, FlushDecompress, Status};
use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::fuzzing::{loose_header, loose_object};
use paired_sdk_gate::limits::{Budget, Limits};

/// Far below what the decoder of this target reads.
const TREE_BYTES: u64 = 1 << 16;
const MOST: usize = 1 << 22;

fuzz_target!(|data: &[u8]| {
    header(data);
    let Some((&mode, rest)) = data.split_first() else { return };
    let mut file = rest.to_vec();
    if mode & 3 != 0 {
        let level = if mode & 4 == 0 { Compression::NONE } else { Compression::BEST_SPEED };
        file = deflated(rest, level);
        match mode & 3 {
            2 => file.truncate(file.len() - 1 - usize::from(mode >> 3).min(file.len() - 1)),
            3 => file.extend(std::iter::repeat_n(mode, usize::from(mode >> 3))),
            _ => {}
        }
    }
    stream(&file);
});

fn header(bytes: &[u8]) {
    if let Some((kind, size, length)) = loose_header(bytes) {
        assert_eq!(bytes[..length], *gix::objs::encode::loose_header(kind, size));
    }
}

fn stream(file: &[u8]) {
    let limits = Limits { tree_bytes: TREE_BYTES, file_bytes: TREE_BYTES, seconds: 60, ..Limits::default() };
    let budget = Budget::start(limits, Arc::default());
    let expected = object(file);
    let null = gix::ObjectId::null(Sha1);
    let id = expected.as_ref().map_or(null, |(kind, content)| gix::objs::compute_hash(Sha1, *kind, content).unwrap());
    for keep in [false, true] {
        let found = loose_object(file, id, keep, &budget);
        match &expected {
            Some((kind, content)) if content.len() as u64 <= TREE_BYTES || (*kind == Kind::Blob && !keep) => {
                let (found, size, read) = found.unwrap();
                assert_eq!((found, size), (*kind, content.len() as u64));
                if keep || found != Kind::Blob {
                    assert!(read == *content);
                }
            }
            _ => assert!(found.is_err()),
        }
        // The same bytes under another id are refused.
        assert!(loose_object(file, null, keep, &budget).is_err());
    }
}

/// What the file holds, if it is one object.
fn object(file: &[u8]) -> Option<(Kind, Vec<u8>)> {
    let mut state = Decompress::new();
    let mut all = vec![0; 1 << 12];
    loop {
        let (read, written) = (state.total_in() as usize, state.total_out() as usize);
        match state.decompress(&file[read..], &mut all[written..], FlushDecompress::None) {
            Ok(Status::StreamEnd) => break,
            Ok(_) if state.total_out() as usize == all.len() && all.len() < MOST => all.resize(2 * all.len(), 0),
            Ok(_) if (state.total_in() as usize, state.total_out() as usize) != (read, written) => {}
            _ => return None,
        }
    }
    if state.total_in() as usize != file.len() {
        return None;
    }
    all.truncate(state.total_out() as usize);
    let nul = all.iter().position(|&byte| byte == 0)?;
    let content = all.split_off(nul + 1);
    let kinds = [Kind::Tree, Kind::Blob, Kind::Commit, Kind::Tag];
    let header = |kind: &Kind| format!("{kind} {}\0", content.len()).into_bytes() == all;
    let kind = kinds.into_iter().find(header)?;
    Some((kind, content))
}

fn deflated(content: &[u8], level: Compression) -> Vec<u8> {
    let mut writer = gix::zlib::stream::deflate::Write::new(Vec::new(), level);
    writer.write_all(content).unwrap();
    writer.flush().unwrap();
    writer.into_inner()
}
