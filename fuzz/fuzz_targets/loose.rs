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
    let (all, ended) = inflated(file);
    let expected = if ended { object(&all) } else { None };
    // Of whatever there is, so that a wrong end or size is all that is wrong.
    let mut hasher = gix::hash::hasher(Sha1);
    hasher.update(&all);
    let id = hasher.try_finalize().expect("no collision attack");
    for keep in [false, true] {
        let found = loose_object(file, id, keep, &budget);
        match &expected {
            Some((kind, content)) if content.len() as u64 <= TREE_BYTES || (*kind == Kind::Blob && !keep) => {
                let (found, size, read) = found.unwrap();
                assert_eq!((found, size), (*kind, content.len() as u64));
                if keep || found != Kind::Blob {
                    assert_eq!(read, *content);
                }
            }
            _ => assert!(found.is_err()),
        }
        // The same bytes under another id are refused.
        assert!(loose_object(file, gix::ObjectId::null(Sha1), keep, &budget).is_err());
    }
}

/// What comes out of the file, up to a bound, and whether it is one stream from end to end.
fn inflated(file: &[u8]) -> (Vec<u8>, bool) {
    let mut state = Decompress::new();
    let mut all = vec![0; 1 << 12];
    let ended = loop {
        let (read, written) = (state.total_in() as usize, state.total_out() as usize);
        match state.decompress(&file[read..], &mut all[written..], FlushDecompress::None) {
            Ok(Status::StreamEnd) => break state.total_in() as usize == file.len(),
            Ok(_) if state.total_out() as usize == all.len() && all.len() < MOST => all.resize(2 * all.len(), 0),
            Ok(_) if (state.total_in() as usize, state.total_out() as usize) != (read, written) => {}
            _ => break false,
        }
    };
    all.truncate(state.total_out() as usize);
    (all, ended)
}

/// A header and content of the size it says.
fn object(all: &[u8]) -> Option<(Kind, &[u8])> {
    let nul = all.iter().position(|&byte| byte == 0)?;
    let (header, content) = (&all[..nul], &all[nul + 1..]);
    let kinds = [Kind::Tree, Kind::Blob, Kind::Commit, Kind::Tag];
    let kind = kinds.into_iter().find(|kind| format!("{kind} {}", content.len()).as_bytes() == header)?;
    Some((kind, content))
}

fn deflated(content: &[u8], level: Compression) -> Vec<u8> {
    let mut writer = gix::zlib::stream::deflate::Write::new(Vec::new(), level);
    writer.write_all(content).unwrap();
    writer.flush().unwrap();
    writer.into_inner()
}
