//! The bookkeeping of shares and waiting requests, as pure steps.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::Owner;

/// An owner may hold this many times what remains free: three quarters of the total if it is alone.
pub const OF_FREE: u64 = 3;
/// Number of idle owners whose next place on the virtual time is remembered.
const REMEMBERED: usize = 256;
/// How recently another owner must have asked for the last place to be kept free.
const LATELY: Duration = Duration::from_secs(2);

/// The number of a waiting request.
pub(super) type Number = u64;

#[derive(Debug)]
pub(super) struct Book {
    total: u64,
    in_use: u64,
    /// Only owners that hold something.
    held: HashMap<Owner, u64>,
    /// An owner may hold this many times what remains free; `None` means everything.
    of_free: Option<u64>,
    /// Requests with a higher cost leave the last place to others that asked lately.
    long: Option<u64>,
    /// Waiting requests of each owner in order of arrival. Only owners that wait.
    waiting: HashMap<Owner, VecDeque<ShareRequest>>,
    /// Number of requests so far.
    asked: Number,
    /// The virtual time: the start of the latest grant.
    now: u64,
    /// Start of an owner's next request, if later than now: after everything that it was granted.
    next: HashMap<Owner, u64>,
    /// The two owners that asked last, latest first.
    latest: [Option<(Owner, Instant)>; 2],
}

#[derive(Debug)]
struct ShareRequest {
    number: Number,
    amount: u64,
    cost: u64,
    at: Instant,
    granted: oneshot::Sender<()>,
}

impl Book {
    pub(super) fn new(total: u64, of_free: Option<u64>, long: Option<u64>) -> Self {
        Self {
            total,
            in_use: 0,
            held: HashMap::new(),
            of_free,
            long,
            waiting: HashMap::new(),
            asked: 0,
            now: 0,
            next: HashMap::new(),
            latest: [None, None],
        }
    }

    pub(super) fn in_use(&self) -> u64 {
        self.in_use
    }

    /// Takes the amount if it is available at once.
    pub(super) fn take(&mut self, owner: &Owner, amount: u64) -> bool {
        let may = self.may_hold(owner, amount);
        if may {
            self.hold(owner, amount);
        }
        may
    }

    /// Queues a request for [`Self::serve`].
    pub(super) fn ask(
        &mut self,
        owner: &Owner,
        amount: u64,
        cost: u64,
        granted: oneshot::Sender<()>,
        at: Instant,
    ) -> Number {
        let number = self.asked;
        self.asked += 1;
        self.waiting.entry(owner.clone()).or_default().push_back(ShareRequest { number, amount, cost, at, granted });
        self.note(owner, at);
        number
    }

    /// Grants what is available: first the request that starts earliest on the virtual time, and of several the one
    /// that came first.
    pub(super) fn serve(&mut self) {
        while self.in_use < self.total
            && let Some((owner, index)) = self.first()
        {
            let Some(request) = self.waiting.get_mut(&owner).and_then(|requests| requests.remove(index)) else { break };
            self.tidy(&owner);
            let begins = self.begins(&owner);
            self.now = begins;
            self.next.insert(owner.clone(), begins.saturating_add(request.cost));
            self.hold(&owner, request.amount);
            // If the receiver is gone, the grant is given back.
            let _ = request.granted.send(());
        }
        self.forget();
    }

    fn first(&self) -> Option<(Owner, usize)> {
        let first = |(owner, requests): (&Owner, &VecDeque<ShareRequest>)| {
            let index = requests.iter().position(|request| self.may_begin(owner, request))?;
            Some((self.begins(owner), requests[index].number, owner.clone(), index))
        };
        let (_, _, owner, index) = self.waiting.iter().filter_map(first).min()?;
        Some((owner, index))
    }

    /// Withdraws a waiting request; false if it was granted.
    pub(super) fn withdraw(&mut self, owner: &Owner, number: Number) -> bool {
        let Some(requests) = self.waiting.get_mut(owner) else { return false };
        let Some(index) = requests.iter().position(|request| request.number == number) else { return false };
        requests.remove(index);
        self.tidy(owner);
        true
    }

    /// Removes an owner without waiting requests from the queue.
    fn tidy(&mut self, owner: &Owner) {
        if self.waiting.get(owner).is_some_and(VecDeque::is_empty) {
            self.waiting.remove(owner);
        }
    }

    pub(super) fn give_back(&mut self, owner: &Owner, amount: u64) {
        self.in_use -= amount;
        if let Some(held) = self.held.get_mut(owner) {
            *held -= amount;
            if *held == 0 {
                self.held.remove(owner);
            }
        }
        // If nothing is held and no request waits, all owners start equal.
        if self.in_use == 0 && self.waiting.is_empty() {
            self.next.clear();
        }
    }

    /// Corrects the expected cost of a request to its real cost.
    pub(super) fn correct(&mut self, owner: &Owner, expected: u64, cost: u64) {
        let next = self.begins(owner).saturating_sub(expected).saturating_add(cost);
        self.next.insert(owner.clone(), next.max(self.now));
    }

    fn begins(&self, owner: &Owner) -> u64 {
        self.next.get(owner).copied().unwrap_or_default().max(self.now)
    }

    fn may_begin(&self, owner: &Owner, request: &ShareRequest) -> bool {
        let is_last = self.in_use + request.amount == self.total && self.total > 1;
        let is_long = self.long.is_some_and(|long| request.cost > long);
        let may_take_the_last = !is_last || !is_long || !self.has_company(owner, request.at);
        may_take_the_last && self.may_hold(owner, request.amount)
    }

    fn may_hold(&self, owner: &Owner, amount: u64) -> bool {
        let Some(left) = self.total.checked_sub(self.in_use).and_then(|free| free.checked_sub(amount)) else {
            return false;
        };
        let held = self.held.get(owner).copied().unwrap_or_default();
        // An owner that holds nothing may take something, however little is free.
        let bound = self.of_free.filter(|_| held > 0 && *owner != Owner::Process);
        bound.is_none_or(|times| held + amount <= left.saturating_mul(times))
    }

    fn hold(&mut self, owner: &Owner, amount: u64) {
        self.in_use += amount;
        *self.held.entry(owner.clone()).or_default() += amount;
    }

    fn note(&mut self, owner: &Owner, at: Instant) {
        if self.latest[0].as_ref().is_some_and(|(latest, _)| latest != owner) {
            self.latest.swap(0, 1);
        }
        self.latest[0] = Some((owner.clone(), at));
    }

    /// Whether another owner asked shortly before this moment, or after it.
    fn has_company(&self, owner: &Owner, moment: Instant) -> bool {
        let mut others = self.latest.iter().flatten().filter(|(other, _)| other != owner);
        others.any(|(_, at)| moment.saturating_duration_since(*at) < LATELY)
    }

    /// With very many owners, only those that wait or hold something are remembered.
    fn forget(&mut self) {
        if self.next.len() > 2 * (self.waiting.len() + self.held.len()) + REMEMBERED {
            self.next.retain(|owner, _| self.waiting.contains_key(owner) || self.held.contains_key(owner));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(number: usize) -> Owner {
        Owner::Key(number.to_string().into())
    }

    /// The amounts of owners that take as much as they can.
    fn taken(book: &mut Book, owners: &[Owner]) -> Vec<u64> {
        let mut held = vec![0; owners.len()];
        loop {
            let before = held.clone();
            for (owner, held) in owners.iter().zip(&mut held) {
                *held += u64::from(book.take(owner, 1));
            }
            if held == before {
                return held;
            }
        }
    }

    #[test]
    fn one_owner_leaves_a_quarter_and_several_leave_some() {
        assert_eq!(taken(&mut Book::new(64, Some(OF_FREE), None), &[key(0)]), [48]);
        let both = taken(&mut Book::new(64, Some(OF_FREE), None), &[key(0), key(1)]);
        assert!(both.iter().all(|held| (26..=28).contains(held)), "{both:?}");
        assert_eq!(taken(&mut Book::new(1, Some(OF_FREE), None), &[key(0), key(1)]), [1, 0]);
        assert_eq!(taken(&mut Book::new(64, Some(OF_FREE), None), &[Owner::Process]), [64]);
    }

    /// Simulates requests over time, with a number of places.
    struct Simulation {
        book: Book,
        begun: Instant,
        time: u64,
        running: Vec<(u64, Owner, u64, u64)>,
        waiting: Vec<(Owner, u64, u64, oneshot::Receiver<()>)>,
    }

    impl Simulation {
        fn new(book: Book) -> Self {
            Self { book, begun: Instant::now(), time: 0, running: Vec::new(), waiting: Vec::new() }
        }

        /// `expected` is the cost known in advance, `cost` the real duration.
        fn ask(&mut self, owner: &Owner, expected: u64, cost: u64) {
            let (sender, granted) = oneshot::channel();
            let at = self.begun + Duration::from_millis(self.time);
            self.book.ask(owner, 1, expected, sender, at);
            self.waiting.push((owner.clone(), expected, cost, granted));
        }

        /// Starts the requests that are granted now, and returns their owners.
        fn begin(&mut self) -> Vec<Owner> {
            self.book.serve();
            let mut begun = Vec::new();
            let (mut still, time) = (Vec::new(), self.time);
            for (owner, expected, cost, mut granted) in std::mem::take(&mut self.waiting) {
                if granted.try_recv().is_ok() {
                    self.running.push((time + cost, owner.clone(), expected, cost));
                    begun.push(owner);
                } else {
                    still.push((owner, expected, cost, granted));
                }
            }
            self.waiting = still;
            begun
        }

        /// Advances to the end of the next running request.
        fn next_end(&mut self) -> Option<Owner> {
            let index = (0..self.running.len()).min_by_key(|index| self.running[*index].0)?;
            let (end, owner, expected, cost) = self.running.swap_remove(index);
            self.time = end;
            self.book.give_back(&owner, 1);
            self.book.correct(&owner, expected, cost);
            Some(owner)
        }
    }

    /// The longest wait of an owner that asks now and then, beside others that always have many waiting requests.
    fn longest_wait(greedy: usize, costs: &[u64], own: u64, known: bool, places: u64) -> u64 {
        let mut simulation = Simulation::new(Book::new(places, None, None));
        let polite = key(99);
        for round in 0..8 {
            for (owner, cost) in (0..greedy).flat_map(|owner| costs.iter().map(move |cost| (owner, cost))) {
                let cost = 1 + (cost + round) % costs.iter().max().unwrap_or(&1);
                simulation.ask(&key(owner), if known { cost } else { 1 }, cost);
            }
        }
        simulation.begin();
        let mut longest = 0;
        for _ in 0..6 {
            // Work that is done in between.
            (0..greedy + 1).for_each(|_| {
                simulation.next_end();
                simulation.begin();
            });
            let asked = simulation.time;
            simulation.ask(&polite, own, own);
            while !simulation.begin().contains(&polite) {
                simulation.next_end().expect("something runs");
            }
            longest = longest.max(simulation.time - asked);
            while simulation.next_end().is_some_and(|ended| ended != polite) {
                simulation.begin();
            }
        }
        longest
    }

    proptest! {
        /// It waits until each other owner has had as much as it, and for running requests: however many requests of
        /// the others wait, and whether or not their costs are known in advance.
        #[test]
        fn a_polite_owner_waits_in_proportion_to_its_own_cost(
            greedy in 1..6_usize,
            costs in proptest::collection::vec(1..40_u64, 1..20),
            own in 1..40_u64,
            known in any::<bool>(),
            places in 1..4_u64,
        ) {
            let most = costs.iter().max().copied().unwrap_or(1) + 1;
            let wait = longest_wait(greedy, &costs, own, known, places);
            let bound = (greedy as u64 + 1) * (own + 2 * most);
            prop_assert!(wait <= bound, "{wait} of {bound}");
        }

        /// Whatever is taken and given back, owners that hold nothing find a place, and nothing is lost.
        #[test]
        fn nobody_holds_everything(total in 8..200_u64, steps in proptest::collection::vec((0..4_usize, 0..9_u64), 1..200)) {
            let mut book = Book::new(total, Some(OF_FREE), None);
            let mut held: HashMap<usize, Vec<u64>> = HashMap::new();
            for (owner, amount) in steps {
                if amount == 0 {
                    if let Some(amount) = held.get_mut(&owner).and_then(Vec::pop) {
                        book.give_back(&key(owner), amount);
                    }
                } else if book.take(&key(owner), amount) {
                    held.entry(owner).or_default().push(amount);
                }
                let in_use: u64 = held.values().flatten().sum();
                prop_assert_eq!(book.in_use(), in_use);
                prop_assert!(in_use <= total);
            }
            for owner in 0..4 {
                let own: u64 = held.get(&owner).into_iter().flatten().sum();
                prop_assert!(own <= 8.max(total * OF_FREE / (OF_FREE + 1)), "{own} of {total}");
            }
            held.into_iter().for_each(|(owner, all)| all.into_iter().for_each(|one| book.give_back(&key(owner), one)));
            prop_assert!(book.held.is_empty() && book.in_use() == 0);
        }
    }

    /// Two places: a long request does not take the second one while others ask.
    #[test]
    fn what_is_long_leaves_a_place_while_others_ask() {
        let mut simulation = Simulation::new(Book::new(2, None, Some(10)));
        (0..4).for_each(|_| simulation.ask(&key(0), 100, 100));
        assert_eq!(simulation.begin().len(), 2, "nobody else is there");
        simulation.ask(&key(1), 1, 1);
        assert_eq!(simulation.next_end(), Some(key(0)));
        assert_eq!(simulation.begin(), [key(1)]);
        assert_eq!(simulation.next_end(), Some(key(0)));
        assert_eq!(simulation.begin(), [], "what is long leaves the last place");
        assert_eq!(simulation.next_end(), Some(key(1)));
        assert_eq!(simulation.begin(), [key(0)]);
        simulation.ask(&key(2), 1, 1);
        assert_eq!(simulation.begin(), [key(2)], "it waits for nothing");
        let alone = Book::new(1, None, Some(10));
        let mut simulation = Simulation::new(alone);
        simulation.ask(&key(1), 1, 1);
        simulation.ask(&key(0), 100, 100);
        assert_eq!(simulation.begin(), [key(1)]);
        simulation.next_end();
        assert_eq!(simulation.begin(), [key(0)], "the only place is for everybody");
    }

    #[test]
    fn owners_that_left_are_forgotten() {
        let mut book = Book::new(2, None, None);
        let (sender, _granted) = oneshot::channel();
        book.ask(&key(1_000), 1, 5, sender, Instant::now());
        book.serve();
        for number in 0..1_000 {
            let (sender, _granted) = oneshot::channel();
            book.ask(&key(number), 1, 5, sender, Instant::now());
            book.serve();
            book.give_back(&key(number), 1);
        }
        assert!(book.next.len() <= REMEMBERED + 2, "{}", book.next.len());
        book.give_back(&key(1_000), 1);
        assert!(book.next.is_empty() && book.held.is_empty());
    }
}
