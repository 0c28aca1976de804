//! Sound archives are read whole; what readers of archives could see differently is refused.

use std::io::Write;
use std::sync::Arc;

use proptest::prelude::*;
use zip::write::SimpleFileOptions;

use super::*;
use crate::limits::Limits;

type Read = Result<Vec<(String, Vec<u8>)>, ArchiveError>;

fn read_within(format: Format, bytes: &[u8], limits: Limits) -> Read {
    let mut read = Vec::new();
    members(format, bytes, &Budget::start(limits, Arc::default()), &mut |name, content| {
        read.push((name.to_owned(), content.to_vec()));
    })?;
    Ok(read)
}

fn read(format: Format, bytes: &[u8]) -> Read {
    read_within(format, bytes, Limits::default())
}

/// The message, with the member where one is to blame.
fn refusal(result: Read) -> String {
    match result.unwrap_err() {
        ArchiveError::Odd { member, what } => format!("{member}: {what}"),
        other => other.to_string(),
    }
}

fn make_zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ::zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Names are written as they are given, also those that no builder lets pass.
fn make_tar(members: &[(::tar::EntryType, &str, &str)]) -> Vec<u8> {
    let mut tar = ::tar::Builder::new(Vec::new());
    for (kind, name, text) in members {
        let mut header = ::tar::Header::new_ustar();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_link_name("elsewhere").unwrap();
        }
        header.set_cksum();
        tar.append(&header, text.as_bytes()).unwrap();
    }
    tar.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn make_tar_gz(files: &[(&str, &str)]) -> Vec<u8> {
    let files: Vec<_> = files.iter().map(|(name, text)| (::tar::EntryType::Regular, *name, *text)).collect();
    gzip(&make_tar(&files))
}

/// Each name stands in a local header and in the directory.
fn renamed(mut zip: Vec<u8>, from: &str, to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let places: Vec<_> = zip.windows(from.len()).enumerate().filter(|(_, at)| *at == from.as_bytes()).collect();
    let places: Vec<_> = places.into_iter().map(|(at, _)| at).collect();
    assert_eq!(places.len(), 2);
    places.into_iter().for_each(|at| zip[at..at + to.len()].copy_from_slice(to));
    zip
}

const FILES: [(&str, &str); 3] = [("a/b.py", "1"), ("a/c d.txt", ""), ("e", "22")];

#[test]
fn sound_archives_are_read_whole() {
    let expected = FILES.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    assert_eq!(read(Format::Zip, &make_zip(&FILES)).unwrap(), expected);
    assert_eq!(read(Format::TarGz, &make_tar_gz(&FILES)).unwrap(), expected);
    // Folders may have members of their own.
    let (folder, file) = (::tar::EntryType::Directory, ::tar::EntryType::Regular);
    let tar = make_tar(&[(folder, "a", ""), (file, "a/b", "1"), (folder, "c/", "")]);
    assert_eq!(read(Format::TarGz, &gzip(&tar)).unwrap(), [("a/b".to_owned(), b"1".to_vec())]);
    let mut zip = ::zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_directory("a", SimpleFileOptions::default()).unwrap();
    assert_eq!(read(Format::Zip, &zip.finish().unwrap().into_inner()).unwrap(), []);
    // A long name, in either of its spellings.
    let long = "n".repeat(300);
    let mut tar = ::tar::Builder::new(Vec::new());
    let mut header = ::tar::Header::new_gnu();
    header.set_size(1);
    tar.append_data(&mut header, &long, &b"1"[..]).unwrap();
    tar.append_pax_extensions([("path", b"pax".as_slice()), ("mtime", b"1.5")]).unwrap();
    let mut header = ::tar::Header::new_ustar();
    header.set_path("short").unwrap();
    header.set_size(1);
    header.set_cksum();
    tar.append(&header, &b"2"[..]).unwrap();
    let found = read(Format::TarGz, &gzip(&tar.into_inner().unwrap())).unwrap();
    assert_eq!(found, [(long, b"1".to_vec()), ("pax".to_owned(), b"2".to_vec())]);
}

#[test]
fn names_are_plain_and_there_once() {
    for (name, what) in [
        ("../aa", "a name that is no plain relative path"),
        ("/etc/a", "a name that is no plain relative path"),
        ("a//bcd", "a name that is no plain relative path"),
        ("./abcd", "a name that is no plain relative path"),
        ("a/../b", "a name that is no plain relative path"),
        ("a\\bcde", "a name that is no plain relative path"),
        ("a\u{1b}bcde", "a name that is no plain relative path"),
    ] {
        let from = "n".repeat(name.len());
        let zip = renamed(make_zip(&[(&from, "1")]), &from, name.as_bytes());
        assert_eq!(refusal(read(Format::Zip, &zip)), format!("{name}: {what}"));
        assert_eq!(refusal(read(Format::TarGz, &make_tar_gz(&[(name, "1")]))), format!("{name}: {what}"));
    }
    let zip = renamed(make_zip(&[("nn", "1")]), "nn", b"\xc3\x28");
    assert!(refusal(read(Format::Zip, &zip)).ends_with(": a name in another encoding than UTF-8"));
    let twice = renamed(make_zip(&[("one", "1"), ("two", "2")]), "two", b"one");
    assert_eq!(refusal(read(Format::Zip, &twice)), "the directory: a member that is there twice");
    assert_eq!(refusal(read(Format::TarGz, &make_tar_gz(&[("a", "1"), ("a", "1")]))), "a: there twice");
    for files in [[("a", "1"), ("a/b", "2")], [("a/b", "2"), ("a", "1")]] {
        assert_eq!(refusal(read(Format::TarGz, &make_tar_gz(&files))), "a: a file and a folder");
        assert_eq!(refusal(read(Format::Zip, &make_zip(&files))), "a: a file and a folder");
    }
    let folder = ::tar::EntryType::Directory;
    let tar = make_tar(&[(folder, "a", ""), (folder, "a/", "")]);
    assert_eq!(refusal(read(Format::TarGz, &gzip(&tar))), "a: there twice");
}

#[test]
fn only_files_and_folders() {
    use ::tar::EntryType as Kind;
    let other = "neither a regular file nor a folder";
    for (kind, what) in [
        (Kind::Symlink, "a symbolic link"),
        (Kind::Link, "a hard link"),
        (Kind::Fifo, other),
        (Kind::Char, other),
        (Kind::XGlobalHeader, other),
        (Kind::new(b'V'), other),
    ] {
        let tar = make_tar(&[(kind, "a", "")]);
        assert_eq!(refusal(read(Format::TarGz, &gzip(&tar))), format!("a: {what}"));
    }
    let mut tar = ::tar::Builder::new(Vec::new());
    tar.append_pax_extensions([("GNU.sparse.major", b"1".as_slice())]).unwrap();
    let mut bytes = tar.into_inner().unwrap();
    bytes.truncate(1024);
    bytes.extend(make_tar(&[(Kind::Regular, "a", "1")]));
    assert_eq!(refusal(read(Format::TarGz, &gzip(&bytes))), "a: a sparse file");

    let mut zip = ::zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_symlink("a", "elsewhere", SimpleFileOptions::default()).unwrap();
    assert_eq!(refusal(read(Format::Zip, &zip.finish().unwrap().into_inner())), "a: a symbolic link");
    // A fifo, as the mode in the directory has it.
    let mut zip = make_zip(&[("a", "")]);
    let directory = zip.windows(4).position(|at| at == b"PK\x01\x02").unwrap();
    zip[directory + 40..directory + 42].copy_from_slice(&0o010_644_u16.to_le_bytes());
    assert_eq!(refusal(read(Format::Zip, &zip)), format!("a: {other}"));
}

#[test]
fn what_only_some_readers_see_is_refused() {
    let sound = make_zip(&FILES);
    let junk = |zip: Vec<u8>| refusal(read(Format::Zip, &zip));
    assert_eq!(junk([&sound[..], b"junk"].concat()), "not a zip archive that ends with its directory");
    assert_eq!(junk([&b"junk"[..], &sound].concat()), "4 bytes before the archive");
    assert_eq!(junk(b"junk".to_vec()), "not a zip archive that ends with its directory");
    // Two directories: the last one is read, and the files of the first are not in it.
    let hidden = junk([sound.clone(), make_zip(&[("x", "1")])].concat());
    assert!(hidden.ends_with("before the archive"), "{hidden}");
    // A 64-bit directory's place, which some readers follow and others never look for.
    let end = sound.len() - 22;
    let wide = [&sound[..end], b"PK\x06\x07", &[0; 16], &sound[end..]].concat();
    assert_eq!(junk(wide), "a second, 64-bit directory");
    // The local header says another name than the directory.
    let mut other = sound.clone();
    other[30] = b'z';
    assert!(junk(other).contains("header inconsistency"));
    let mut damaged = sound;
    damaged[36] ^= 1;
    assert!(read(Format::Zip, &damaged).is_err(), "damage is noticed");

    let tar = make_tar(&[(::tar::EntryType::Regular, "a", "1")]);
    let more = [&tar[..], &make_tar(&[(::tar::EntryType::Regular, "b", "1")])].concat();
    assert_eq!(refusal(read(Format::TarGz, &gzip(&more))), "bytes after the end of the archive");
    assert_eq!(refusal(read(Format::TarGz, &gzip(&tar[..512]))), "a: 0 bytes, where its header says 1");
    assert_eq!(refusal(read(Format::TarGz, &tar)), "invalid gzip header");
    let mut damaged = gzip(&tar);
    damaged.truncate(damaged.len() - 4);
    assert!(read(Format::TarGz, &damaged).is_err());
}

#[test]
fn bombs_stop_at_the_bounds() {
    let limits = || Limits { package_files: 2, file_bytes: 10, package_bytes: 15, ..Limits::default() };
    let long = "1".repeat(11);
    for (files, message) in [
        (&[("a", "1"), ("b", "1"), ("c", "1")][..], "more than 2 members"),
        (&[("a", &*long)], "more than 10 bytes of one member"),
        (&[("a", "11111111"), ("b", "11111111")], "more than 15 bytes in all"),
    ] {
        assert_eq!(refusal(read_within(Format::Zip, &make_zip(files), limits())), message);
        assert_eq!(refusal(read_within(Format::TarGz, &make_tar_gz(files), limits())), message);
    }
    // What deflates well is not inflated first and measured then.
    let bomb = gzip(&vec![0; 64 << 20]);
    let small = Limits { package_bytes: 1 << 20, ..Limits::default() };
    assert_eq!(refusal(read_within(Format::TarGz, &bomb, small)), "more than 1048576 bytes in all");
    // A header that says less than what is there.
    let mut zip = make_zip(&[("a", &"1".repeat(100))]);
    let directory = zip.windows(4).position(|at| at == b"PK\x01\x02").unwrap();
    for at in [22, directory + 24] {
        zip[at..at + 4].copy_from_slice(&1_u32.to_le_bytes());
    }
    assert!(read(Format::Zip, &zip).is_err());
    let spent = Budget::start(Limits { seconds: 0, ..Limits::default() }, Arc::default());
    let stopped = members(Format::Zip, &make_zip(&FILES), &spent, &mut |_, _| ());
    assert!(matches!(stopped, Err(ArchiveError::Stop(_))));
}

proptest! {
    /// Any one changed byte is told or harmless: what is read is then what was there, or has a plain name.
    #[test]
    fn a_flipped_byte_is_survived(format in prop::bool::ANY, at in any::<prop::sample::Index>(), change in 1..=255_u8) {
        let (format, mut bytes) = if format { (Format::Zip, make_zip(&FILES)) } else { (Format::TarGz, make_tar_gz(&FILES)) };
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        if let Ok(read) = read(format, &bytes) {
            prop_assert!(read.iter().all(|(name, _)| plain(name.as_bytes()).is_ok()));
        }
    }
}
