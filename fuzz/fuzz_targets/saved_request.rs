//! Any bytes as a saved request: reading must end without a panic, and what was read can be parsed for its signature.
#![no_main]

use libfuzzer_sys::fuzz_target;
use peerfarm::saved;

fuzz_target!(|data: &[u8]| {
    for entry in [None, Some(1)] {
        if let Ok(saved) = saved::read(data, entry) {
            let _ = saved.is_signed();
            // No more than the file has, whatever `Content-Length` and chunks say.
            assert!(saved.body.len() <= data.len());
        }
    }
});
