//! Canonical N-Quads of a JSON-LD document (RDF Dataset Canonicalization 1.0, which is URDNA2015 under its later name;
//! they differ in how control characters other than line ends are escaped).

use oxrdf::dataset::{CanonicalizationAlgorithm, CanonicalizationHashAlgorithm};
use serde_json::{Map, Value};

use crate::proof::{ProofError, blank_nodes, json_ld};

/// The canonical form: a line for each quad, sorted, each ended by LF.
///
/// # Errors
/// On a context that is not bundled, on what is no JSON-LD, and where a bound is passed.
pub(super) fn canonical(document: &Map<String, Value>) -> Result<String, ProofError> {
    let mut dataset = json_ld::dataset(document)?;
    blank_nodes::check(&dataset)?;
    dataset.canonicalize(CanonicalizationAlgorithm::Rdfc10 {
        hash_algorithm: CanonicalizationHashAlgorithm::Sha256,
    });
    let mut lines: Vec<String> = dataset.iter().map(|quad| format!("{quad} .\n")).collect();
    lines.sort_unstable();
    Ok(lines.concat())
}
