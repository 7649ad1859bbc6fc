//! Fair shares of scarce resources: workers, connections, streams, bytes in memory.
//!
//! Each resource is limited in total and per owner, by two rules:
//!
//! - **A part stays free.** An owner may hold [`OF_FREE`] times what remains free: three quarters if it is alone, three
//!   sevenths each for two owners. So each owner leaves room for the next one, and nothing has to be configured per
//!   owner (the dynamic threshold of shared buffers in switches: Choudhury and Hahne, 1998).
//! - **The owner that had least comes first.** Waiting requests are served by start-time fair queueing (Goyal, Vin and
//!   Cheng, 1996): the requests of one owner follow one another on a virtual time, each as long as its cost. An owner
//!   waits until each other one has had as much as it, however many requests of the others wait.

mod book;
mod kept;

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::sync::oneshot;

use book::{Book, Number};

pub use book::OF_FREE;
pub use kept::SharedCache;

/// The owner of a share, or of a waiting request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// This process itself. It may hold everything.
    #[default]
    Process,
    /// The id of an API key.
    Key(Arc<str>),
    /// The address of a request without a key: see [`Self::of_address`].
    Address(IpAddr),
}

impl Owner {
    /// A name that is unique to this owner.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Process => String::new(),
            Self::Key(id) => format!("key {id}"),
            Self::Address(address) => format!("address {address}"),
        }
    }

    /// The owner at an address. Only the first 64 bits of IPv6 count: the holder of one such address has all of them.
    #[must_use]
    pub fn of_address(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        })
    }
}

/// A total amount, shared out by the rules of [the module](self). Clones are cheap and share it.
#[derive(Debug, Clone)]
pub struct Shares(Arc<Mutex<Book>>);

/// An amount that an owner holds until this is dropped.
#[derive(Debug)]
pub struct Share {
    shares: Shares,
    owner: Owner,
    amount: u64,
    /// Its expected cost.
    cost: u64,
}

impl Shares {
    /// Both rules apply.
    #[must_use]
    pub fn new(total: u64) -> Self {
        Self(Arc::new(Mutex::new(Book::new(total, Some(OF_FREE), None))))
    }

    /// For workers, which are given back soon. One owner may hold all of them. But a request that costs more than
    /// `long` does not take the last place while another owner has asked lately: short requests would have to wait for
    /// it.
    #[must_use]
    pub fn of_places(total: u64, long: u64) -> Self {
        Self(Arc::new(Mutex::new(Book::new(total, None, Some(long)))))
    }

    /// Takes the amount if it is available at once.
    #[must_use]
    pub fn try_take(&self, owner: &Owner, amount: u64) -> Option<Share> {
        self.book().take(owner, amount).then(|| Share { shares: self.clone(), owner: owner.clone(), amount, cost: 0 })
    }

    /// Waits for the amount. The owner's later requests wait in proportion to `cost`. A caller that leaves stops
    /// waiting and pays nothing.
    pub async fn take(&self, owner: &Owner, amount: u64, cost: u64) -> Share {
        let (sender, granted) = oneshot::channel();
        let number = {
            let mut book = self.book();
            let number = book.ask(owner, amount, cost, sender, Instant::now());
            book.serve();
            number
        };
        let mut waiting = Waiting { shares: self, owner, amount, number: Some(number) };
        // The book keeps the sender until it is used.
        let _ = granted.await;
        waiting.number = None;
        Share { shares: self.clone(), owner: owner.clone(), amount, cost }
    }

    /// The amount held by all owners.
    #[must_use]
    pub fn in_use(&self) -> u64 {
        self.book().in_use()
    }

    /// No operation leaves the book half changed, so a poisoned lock is safe to use.
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A waiting request, which returns a grant that it did not receive.
struct Waiting<'a> {
    shares: &'a Shares,
    owner: &'a Owner,
    amount: u64,
    /// `None` once it no longer waits.
    number: Option<Number>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut book = self.shares.book();
        if !book.withdraw(self.owner, number) {
            book.give_back(self.owner, self.amount);
        }
        book.serve();
    }
}

impl Share {
    /// Takes more; returns false, and takes nothing, if it is not available at once.
    pub fn grow(&mut self, more: u64) -> bool {
        let may = self.shares.book().take(&self.owner, more);
        self.amount += if may { more } else { 0 };
        may
    }

    #[must_use]
    pub fn amount(&self) -> u64 {
        self.amount
    }

    /// Gives it back, and reports its real cost: the owner's next request waits accordingly.
    pub fn end(self, cost: u64) {
        self.shares.book().correct(&self.owner, self.cost, cost);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut book = self.shares.book();
        book.give_back(&self.owner, self.amount);
        book.serve();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn key(name: &str) -> Owner {
        Owner::Key(name.into())
    }

    #[test]
    fn a_network_is_one_owner() {
        let of = |text: &str| Owner::of_address(text.parse().expect("an address"));
        assert_eq!(of("2001:db8:1:2::7"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::7"), of("2001:db8:1:3::7"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }

    #[test]
    fn a_share_grows_while_there_is_room_and_is_given_back() {
        let bytes = Shares::new(100);
        let mut share = bytes.try_take(&key("a"), 10).expect("there is room");
        assert!(share.grow(60) && !share.grow(10), "three quarters are the owner's");
        let other = bytes.try_take(&key("b"), 20).expect("there is room for others");
        drop(share);
        assert_eq!(bytes.in_use(), 20);
        drop(other);
        assert_eq!(bytes.in_use(), 0);
    }

    #[tokio::test]
    async fn whoever_leaves_takes_nothing_along() {
        let places = Shares::of_places(1, u64::MAX);
        let (a, b, c) = (key("a"), key("b"), key("c"));
        let held = places.take(&a, 1, 1).await;
        let mut leaves = Box::pin(places.take(&b, 1, 1));
        let mut stays = Box::pin(places.take(&c, 1, 1));
        assert!(leaves.as_mut().now_or_never().is_none() && stays.as_mut().now_or_never().is_none());
        drop(held);
        // The request was granted, but its caller left before it noticed.
        drop(leaves);
        let held = stays.now_or_never().expect("the place is free again");
        let mut leaves = Box::pin(places.take(&b, 1, 1));
        assert!(leaves.as_mut().now_or_never().is_none());
        drop(leaves);
        drop(held);
        assert_eq!(places.in_use(), 0);
        assert!(places.take(&a, 1, 1).now_or_never().is_some());
    }
}
