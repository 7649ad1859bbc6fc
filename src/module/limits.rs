use serde::{Deserialize, Serialize};

/// Greatest size of a module; exceeding it is an error that names the limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    pub functions: usize,
    pub exemplars: usize,
    /// Entries (labels and expressions) over all lists.
    pub list_entries: usize,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Nesting of objects and arrays in a function's parameters.
    pub depth: usize,
    /// Slots of one function.
    pub slots: usize,
    /// Schemas (objects, properties, items, branches) of one function, references inlined.
    pub schema_nodes: usize,
    /// Schema nodes of all functions together, including values (about 64 bytes count as one node).
    pub module_schema_nodes: usize,
    /// Bytes of one compiled pattern.
    pub pattern_bytes: usize,
    /// Bytes of all patterns of a file together.
    pub module_pattern_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            functions: 20_000,
            exemplars: 500_000,
            list_entries: 1_000_000,
            file_bytes: 256 << 20,
            depth: 16,
            slots: 500,
            schema_nodes: 10_000,
            module_schema_nodes: 4_000_000,
            pattern_bytes: 4 << 20,
            module_pattern_bytes: 64 << 20,
        }
    }
}
