//! The connections of an endpoint, by number. Number 0 bears CONTROL only and is never here.

use super::connection::Connection;

/// Connections by number; a lookup is one index.
#[derive(Debug, Default)]
pub(super) struct Connections(Vec<Option<Box<Connection>>>);

impl Connections {
    pub(super) fn get(&self, number: u32) -> Option<&Connection> {
        self.0.get(number as usize)?.as_deref()
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Connection> {
        self.0.get_mut(number as usize)?.as_deref_mut()
    }

    pub(super) fn insert(&mut self, connection: Connection) {
        let number = connection.number.value() as usize;
        if self.0.len() <= number {
            self.0.resize_with(number + 1, || None);
        }
        self.0[number] = Some(Box::new(connection));
    }

    pub(super) fn remove(&mut self, number: u32) {
        if let Some(place) = self.0.get_mut(number as usize) {
            *place = None;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.0.iter().flatten().map(|connection| &**connection)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.0
            .iter_mut()
            .flatten()
            .map(|connection| &mut **connection)
    }
}
