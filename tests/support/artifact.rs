//! Wheels and sdists, made as a build tool makes them and in ways that none would.

use std::io::{Cursor, Write};

use sha2::{Digest, Sha256};

/// The files of an artifact by their names in it.
pub type Files = Vec<(String, Vec<u8>)>;

/// A wheel of these files, in this order, as they are.
pub fn wheel(files: &Files) -> Vec<u8> {
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut wheel = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        wheel.start_file(name.as_str(), options).unwrap();
        wheel.write_all(bytes).unwrap();
    }
    wheel.finish().unwrap().into_inner()
}

/// An sdist of these files, in this order, as they are.
pub fn sdist(files: &Files) -> Vec<u8> {
    let compressed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut sdist = tar::Builder::new(compressed);
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        sdist.append_data(&mut header, name, bytes.as_slice()).unwrap();
    }
    sdist.into_inner().unwrap().finish().unwrap()
}

/// Writes a RECORD that fits the other files in place of the one that is there, if there is one.
pub fn sign(files: &mut Files, dist_info: &str) {
    let record = format!("{dist_info}/RECORD");
    files.retain(|(name, _)| *name != record);
    let row = |(name, bytes): &(String, Vec<u8>)| format!("{name},{},{}\n", digest(bytes), bytes.len());
    let rows: String = files.iter().map(row).collect();
    files.push((record.clone(), format!("{rows}{record},,\n").into_bytes()));
}

/// As a RECORD has it.
pub fn digest(bytes: &[u8]) -> String {
    format!("sha256={}", data_encoding::BASE64URL_NOPAD.encode(&Sha256::digest(bytes)))
}
