//! Refuses datasets whose canonical form would take too long to find. Naming blank nodes that look alike is hard: the
//! algorithm tries them in every order, and a few bytes can make it try for years (RDF Dataset Canonicalization 1.0
//! section 7.1, "Dataset Poisoning").

use std::collections::{BTreeMap, HashMap, HashSet};

use oxrdf::{BlankNodeRef, Dataset, GraphNameRef, NamedOrBlankNodeRef, QuadRef, TermRef};

use crate::proof::ProofError;

/// Whether the costly part of the algorithm, Hash N-Degree Quads, would hash at most [`MAX_HASHED`] quads.
///
/// Nodes whose own quads tell them apart are named at once and never part of it. From each of the others it walks to
/// its neighbours, whose quads it hashes; where several look alike from there it tries all their orders, and within
/// each walks on. So a group of connected look-alikes costs at most, from each of its nodes and in each combination of
/// orders, the quads of each node's neighbours.
///
/// # Errors
/// Where that would be too many, or there are more than [`MAX_NODES`] blank nodes.
pub(super) fn check(dataset: &Dataset) -> Result<(), ProofError> {
    let quads = Quads::of(dataset);
    if quads.by_node.len() > MAX_NODES {
        return Err(ProofError::Canonical(format!(
            "it has more than {MAX_NODES} blank nodes"
        )));
    }
    let looks: HashMap<BlankNodeRef, String> = quads
        .by_node
        .keys()
        .map(|node| (*node, quads.look(*node)))
        .collect();
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for look in looks.values() {
        *seen.entry(look).or_default() += 1;
    }
    let alike = |node: &BlankNodeRef| looks.get(node).is_some_and(|look| seen[look.as_str()] > 1);

    let mut total: usize = 0;
    let mut visited: HashSet<BlankNodeRef> = HashSet::new();
    for start in quads.by_node.keys().filter(|node| alike(node)) {
        let (mut nodes, mut orders, mut hashed) = (0_usize, 1_usize, 0_usize);
        let mut open = vec![*start];
        while let Some(node) = open.pop() {
            if !visited.insert(node) {
                continue;
            }
            nodes += 1;
            let groups = quads.neighbours(node, &looks);
            for group in groups.values() {
                let like: Vec<BlankNodeRef> = group.iter().copied().filter(|node| alike(node)).collect();
                orders = (1..=like.len()).fold(orders, usize::saturating_mul);
                hashed += like.iter().map(|node| quads.by_node[node].len()).sum::<usize>();
                open.extend(like);
            }
        }
        total = total.saturating_add(orders.saturating_mul(nodes).saturating_mul(hashed));
        if total > MAX_HASHED {
            let detail = "too many of its nodes without an id look alike; give them ids";
            return Err(ProofError::Canonical(detail.to_owned()));
        }
    }
    Ok(())
}

/// The quads that mention each blank node.
struct Quads<'a> {
    by_node: HashMap<BlankNodeRef<'a>, Vec<QuadRef<'a>>>,
}

impl<'a> Quads<'a> {
    fn of(dataset: &'a Dataset) -> Quads<'a> {
        let mut by_node: HashMap<BlankNodeRef, Vec<QuadRef>> = HashMap::new();
        for quad in dataset {
            let mut nodes: Vec<BlankNodeRef> = places(quad).into_iter().flatten().collect();
            nodes.dedup();
            for node in nodes {
                by_node.entry(node).or_default().push(quad);
            }
        }
        Quads { by_node }
    }

    /// What the quads of a node say when blank nodes are told apart only as "this one" and "another": two nodes with
    /// the same text have the same first-degree hash (section 4.6).
    fn look(&self, node: BlankNodeRef) -> String {
        let mut lines: Vec<String> = self.by_node[&node]
            .iter()
            .map(|quad| {
                let [subject, object, graph] = places(*quad).map(|place| place.map(|other| other == node));
                let predicate = quad.predicate;
                format!(
                    "{} {predicate} {} {}\n",
                    masked(subject, quad.subject),
                    masked(object, quad.object),
                    masked(graph, quad.graph_name),
                )
            })
            .collect();
        lines.sort_unstable();
        lines.concat()
    }

    /// The blank nodes next to one, those together that look alike from there (section 4.8 step 3).
    fn neighbours(
        &self,
        node: BlankNodeRef<'a>,
        looks: &'a HashMap<BlankNodeRef, String>,
    ) -> BTreeMap<(usize, &'a str, &'a str), HashSet<BlankNodeRef<'a>>> {
        let mut groups: BTreeMap<_, HashSet<_>> = BTreeMap::new();
        for quad in &self.by_node[&node] {
            for (position, other) in places(*quad).into_iter().enumerate() {
                if let Some(other) = other.filter(|other| *other != node) {
                    let predicate = quad.predicate.as_str();
                    let key = (position, predicate, looks[&other].as_str());
                    groups.entry(key).or_default().insert(other);
                }
            }
        }
        groups
    }
}

/// The blank nodes in subject, object and graph.
fn places(quad: QuadRef) -> [Option<BlankNodeRef>; 3] {
    let subject = match quad.subject {
        NamedOrBlankNodeRef::BlankNode(node) => Some(node),
        NamedOrBlankNodeRef::NamedNode(_) => None,
    };
    let object = match quad.object {
        TermRef::BlankNode(node) => Some(node),
        _ => None,
    };
    let graph = match quad.graph_name {
        GraphNameRef::BlankNode(node) => Some(node),
        _ => None,
    };
    [subject, object, graph]
}

/// A term, or which blank node it is.
fn masked(own: Option<bool>, term: impl std::fmt::Display) -> String {
    match own {
        Some(true) => "_:a".to_owned(),
        Some(false) => "_:z".to_owned(),
        None => term.to_string(),
    }
}

/// How many blank nodes a document may have.
const MAX_NODES: usize = 1_000;
/// How many quads may be hashed to tell look-alikes apart.
const MAX_HASHED: usize = 30_000;
