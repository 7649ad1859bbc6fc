//! The files of a model, as bytes.

use std::{borrow::Cow, path::Path};

use aho_corasick::AhoCorasick;

use crate::embed::EmbedError;

/// The files of a model.
pub(super) struct ModelFiles {
    pub(super) model: Cow<'static, [u8]>,
    /// Weights that the model keeps in separate files, by the name in the model.
    pub(super) external: Vec<(String, Vec<u8>)>,
    pub(super) tokenizer: Cow<'static, [u8]>,
    pub(super) config: Cow<'static, [u8]>,
    pub(super) special_tokens: Cow<'static, [u8]>,
    pub(super) tokenizer_config: Cow<'static, [u8]>,
}

impl ModelFiles {
    pub(super) fn read(directory: &Path, file: &Path) -> Result<Self, EmbedError> {
        let read = |name: &Path| {
            let path = directory.join(name);
            std::fs::read(&path)
                .map(Cow::Owned)
                .map_err(|error| EmbedError::Load(format!("cannot read {}: {error}", path.display())))
        };
        let model_path = directory.join(file);
        let mut external = Vec::new();
        // The names that common exporters use.
        for suffix in ["_data", ".data"] {
            let mut name = model_path.file_name().unwrap_or_default().to_os_string();
            name.push(suffix);
            if let Ok(bytes) = std::fs::read(model_path.with_file_name(&name)) {
                external.push((name.to_string_lossy().into_owned(), bytes));
            }
        }
        Ok(Self {
            model: read(file)?,
            external,
            tokenizer: read(Path::new("tokenizer.json"))?,
            config: read(Path::new("config.json"))?,
            // Newer tokenizers keep it in tokenizer.json.
            special_tokens: read(Path::new("special_tokens_map.json")).unwrap_or(Cow::Borrowed(b"{}")),
            tokenizer_config: read(Path::new("tokenizer_config.json"))?,
        })
    }

    pub(super) fn hash(&self, hasher: &mut blake3::Hasher) {
        let external = self.external.iter().map(|(_, bytes)| bytes.as_slice());
        let files = [&self.model, &self.tokenizer, &self.config, &self.special_tokens, &self.tokenizer_config];
        for bytes in files.into_iter().map(|bytes| &**bytes).chain(external) {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
    }
}

/// True if the graph computes the range of activations at run time, over all texts of a batch.
pub(super) fn depends_on_company(model: &[u8]) -> bool {
    AhoCorasick::new(["DynamicQuantize"]).is_ok_and(|operators| operators.is_match(model))
}
