//! Reads server-sent events from bytes as they arrive.
//!
//! A reader of our own, because one event must not take more memory than a whole answer may, and because an unfinished
//! last line still tells whether a stream was cut.

/// One event: its type, empty if it has none, and its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub name: String,
    pub data: String,
}

/// Holds bytes that are not yet an event.
#[derive(Debug, Default)]
pub(super) struct EventReader {
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    /// The last line ended with a carriage return: a line feed directly after it belongs to it.
    after_return: bool,
    /// A byte order mark is allowed only at the start of the stream.
    started: bool,
}

impl EventReader {
    /// Takes bytes, split anywhere, and returns the events that they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    events.extend(self.end_line());
                }
                _ => {
                    self.after_return = false;
                    self.line.push(byte);
                }
            }
        }
        events
    }

    /// Ends the stream: returns the last event if no empty line ended it.
    pub(super) fn finish(mut self) -> Option<Event> {
        if !self.line.is_empty()
            && let Some(event) = self.end_line()
        {
            return Some(event);
        }
        self.dispatch()
    }

    /// Number of bytes that wait for the rest of their event.
    pub(super) fn held(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, String::len)
    }

    fn end_line(&mut self) -> Option<Event> {
        let bytes = std::mem::take(&mut self.line);
        // Decodes whole lines, so that no character is split; invalid UTF-8 stays visible.
        let text = String::from_utf8_lossy(&bytes);
        let line = if self.started { &*text } else { text.trim_start_matches('\u{FEFF}') };
        self.started = true;
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.name),
            // Comments, ids and reconnection times.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        self.data.take().map(|data| Event { name, data })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<(String, String)> {
        let mut reader = EventReader::default();
        let mut events: Vec<Event> = pieces.into_iter().flat_map(|piece| reader.push(piece)).collect();
        events.extend(reader.finish());
        events.into_iter().map(|event| (event.name, event.data)).collect()
    }

    fn data(text: &str) -> Vec<String> {
        read([text.as_bytes()]).into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn every_way_of_writing_an_event_is_read() {
        for (text, expected) in [
            ("data: a\n\ndata: b\n\n", vec!["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", vec!["a", "b"]),
            ("data: a\r\rdata: b\r\r", vec!["a", "b"]),
            ("\u{FEFF}data:a\n\n", vec!["a"]),
            ("data:  a \n\n", vec![" a "]),
            (": ping\n\n: ping\ndata: a\n: ping\n\n", vec!["a"]),
            ("id: 7\nretry: 9\ndata: a\nunknown\n\n", vec!["a"]),
            ("data: a\ndata: b\ndata\n\n", vec!["a\nb\n"]),
            ("event: x\n\n\n\n", vec![]),
            ("data: a\n\ndata: [DONE]", vec!["a", "[DONE]"]),
            ("data: a\n", vec!["a"]),
            ("data\n\n", vec![""]),
            ("", vec![]),
        ] {
            assert_eq!(data(text), expected, "{text:?}");
        }
        assert_eq!(
            read([&b"event: error\ndata: x\n\ndata: y\n\n"[..]]),
            [("error".to_owned(), "x".to_owned()), (String::new(), "y".to_owned())]
        );
    }

    #[test]
    fn what_waits_is_counted() {
        let mut reader = EventReader::default();
        reader.push(b"data: 1234\ndata: 56");
        assert_eq!(reader.held(), 4 + 8);
        reader.push(b"\n\n");
        assert_eq!(reader.held(), 0);
    }

    proptest! {
        #[test]
        fn where_bytes_are_cut_changes_nothing(
            bytes in prop::collection::vec(prop_oneof![
                Just(b"data: ".to_vec()), Just(b"\n".to_vec()), Just(b"\r".to_vec()), Just(b"\r\n".to_vec()),
                Just("\u{FEFF}".as_bytes().to_vec()), Just(": x".as_bytes().to_vec()), Just("é🦀".as_bytes().to_vec()),
                prop::collection::vec(any::<u8>(), 0..4),
            ], 0..24),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let bytes = bytes.concat();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let pieces = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            prop_assert_eq!(read(pieces), read([bytes.as_slice()]));
        }
    }
}
