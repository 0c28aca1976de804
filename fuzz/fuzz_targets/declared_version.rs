//! The version a module declares: a literal that is believed is the only binding, so with a second one nothing is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::fuzzing::declared_version;

fn read(source: &[u8]) -> Result<String, String> {
    declared_version(source.to_vec()).unwrap()
}

fuzz_target!(|data: &[u8]| {
    let Ok(version) = read(data) else { return };
    assert_eq!(read(&[data, b"\n# nothing\n"].concat()).as_ref(), Ok(&version));
    for more in ["__version__ = '1'", "import __version__", "def f(__version__): pass", "del __version__"] {
        assert!(read(&[data, b"\n", more.as_bytes(), b"\n"].concat()).is_err(), "{more}");
    }
    let escaped: String = version.chars().map(|c| format!("\\U{:08x}", c as u32)).collect();
    assert_eq!(read(format!("__version__ = \"{escaped}\"").as_bytes()), Ok(version));
});
