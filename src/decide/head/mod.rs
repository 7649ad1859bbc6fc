pub(crate) mod values;
