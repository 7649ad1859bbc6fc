//! Which servers may be contacted. A host name is checked against the list, and so is every address that it resolves
//! to; a connection goes to one of exactly those addresses, so that no other one can be slipped in between.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use futures::{FutureExt as _, future::BoxFuture};
use ipnet::IpNet;

use super::ActionsError;

/// See [the module](self). Cheap to clone.
#[derive(Clone)]
pub(super) struct Allowed {
    hosts: Arc<[Host]>,
    networks: Arc<[IpNet]>,
    look_up: LookUp,
}

/// Looks up the addresses of a name: in production, with the system's resolver.
type LookUp = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// `shop.example.com`, `*.example.com`, either with a port.
#[derive(Debug, PartialEq, Eq)]
struct Host {
    /// In lower case; for a wildcard, the part after `*.`.
    name: String,
    is_below: bool,
    port: Option<u16>,
}

impl Allowed {
    pub(super) fn read(hosts: &[String], networks: &[String]) -> Result<Self, ActionsError> {
        let wrong = |key, problem| ActionsError { key, problem };
        let host = |text: &String| {
            Host::read(text).ok_or_else(|| {
                wrong("hosts", format!("`{text}` is no host, such as `api.example.com` or `localhost:8090`"))
            })
        };
        let network = |text: &String| {
            let read = text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
            read.ok_or_else(|| {
                wrong("networks", format!("`{text}` is no network, such as `10.0.0.0/8` or `127.0.0.1`"))
            })
        };
        Ok(Self {
            hosts: hosts.iter().map(host).collect::<Result<_, _>>()?,
            networks: networks.iter().map(network).collect::<Result<_, _>>()?,
            look_up: Arc::new(|name: String| {
                async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect::<Vec<SocketAddr>>()) }.boxed()
            }),
        })
    }

    #[cfg(test)]
    pub(super) fn looking_up(self, look_up: LookUp) -> Self {
        Self { look_up, ..self }
    }

    /// Whether this address may be contacted, as far as the text itself shows.
    pub(super) fn check(&self, address: &str) -> Result<(), String> {
        let url =
            reqwest::Url::parse(address).map_err(|error| format!("the endpoint's address cannot be read: {error}"))?;
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        let port = url.port_or_known_default();
        if !self.hosts.iter().any(|allowed| allowed.fits(&host, port)) {
            return Err(format!("`{host}` is not among `actions.hosts`"));
        }
        match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) if !self.may_reach(address) => Err(private(&host)),
            _ => Ok(()),
        }
    }

    /// True if the address is public, or in one of the configured networks.
    fn may_reach(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        is_public(address) || self.networks.iter().any(|network| network.contains(&address))
    }
}

fn private(host: &str) -> String {
    format!("`{host}` is no public address, and in none of `actions.networks`")
}

impl Host {
    fn read(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let (name, port) = match text.rsplit_once(':') {
            // IPv6 addresses contain colons too.
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, Some(port.parse().ok()?)),
            _ => (text.as_str(), None),
        };
        let (name, is_below) = name.strip_prefix("*.").map_or((name, false), |name| (name, true));
        let is_address = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
        let bracketed =
            if name.contains(':') && !name.starts_with('[') { format!("[{name}]") } else { name.to_owned() };
        (is_address || is_name).then_some(Self { name: bracketed, is_below, port })
    }

    fn fits(&self, host: &str, port: Option<u16>) -> bool {
        let is_same = if self.is_below {
            host.strip_suffix(&self.name).is_some_and(|below| below.len() > 1 && below.ends_with('.'))
        } else {
            host.trim_end_matches('.') == self.name
        };
        is_same && self.port.is_none_or(|own| Some(own) == port)
    }
}

/// The client's resolver: it returns only allowed addresses.
impl reqwest::dns::Resolve for Allowed {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let allowed = self.clone();
        Box::pin(async move {
            let found = (allowed.look_up)(name.as_str().to_owned()).await?;
            let reached: Vec<SocketAddr> =
                found.into_iter().filter(|address| allowed.may_reach(address.ip())).collect();
            if reached.is_empty() {
                return Err(private(name.as_str()).into());
            }
            Ok(Box::new(reached.into_iter()) as reqwest::dns::Addrs)
        })
    }
}

/// True for globally routable addresses.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        // This network, shared address space, protocol assignments, relays to IPv6, benchmarks, reserved.
        || a == 0
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b))
        || a >= 240)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // Global unicast is 2000::/3, without ranges that carry IPv4 addresses (Teredo and 6to4) and documentation.
    let is_global = segments[0] & 0xe000 == 0x2000;
    let carries_v4 = (segments[0] == 0x2001 && segments[1] == 0) || segments[0] == 0x2002;
    let is_documentation = (segments[0] == 0x2001 && segments[1] == 0x0db8) || segments[0] & 0xfff0 == 0x3ff0;
    is_global && !carries_v4 && !is_documentation
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::ActionOptions;

    fn allowed(hosts: &[&str], networks: &[&str]) -> Allowed {
        let all = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        Allowed::read(&all(hosts), &all(networks)).unwrap()
    }

    #[test]
    fn only_what_is_listed_is_asked() {
        let allowed = allowed(&["shop.example.com", "*.bank.example:8443", "localhost:8090", "203.0.114.9"], &[]);
        for (address, fits) in [
            ("https://shop.example.com/orders", true),
            ("https://SHOP.example.com:9000", true),
            ("https://shop.example.com.evil.example", false),
            ("https://evil-shop.example.com", false),
            ("https://a.bank.example:8443", true),
            ("https://bank.example:8443", false),
            ("https://a.bank.example", false),
            ("http://localhost:8090/x", true),
            ("http://localhost/x", false),
            ("http://203.0.114.9/", true),
            ("not an address", false),
        ] {
            assert_eq!(allowed.check(address).is_ok(), fits, "{address}");
        }
    }

    #[test]
    fn addresses_that_are_not_public_are_listed_by_themselves() {
        let hosts = ["127.0.0.1", "10.1.2.3", "[::1]", "169.254.169.254", "0x7f.1"];
        let of = |networks: &[&str]| allowed(&hosts, networks);
        // A URL in another notation is the same address.
        for (address, networks, fits) in [
            ("http://127.0.0.1/", &[][..], false),
            ("http://127.0.0.1/", &["127.0.0.0/8"], true),
            ("http://0x7f.1/", &[], false),
            ("http://10.1.2.3/", &["127.0.0.1"], false),
            ("http://[::1]:80/", &[], false),
            ("http://[::1]:80/", &["::1"], true),
            ("http://169.254.169.254/", &["10.0.0.0/8"], false),
        ] {
            assert_eq!(of(networks).check(address).is_ok(), fits, "{address} {networks:?}");
        }
    }

    #[test]
    fn no_private_address_passes_for_a_public_one() {
        for private in [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.1.2.3",
            "169.254.169.254",
            "172.16.0.1",
            "192.168.1.1",
            "192.0.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fc00::1",
            "fe80::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:0:7f00::1",
            "2001:db8::1",
        ] {
            assert!(!allowed(&[], &[]).may_reach(private.parse().unwrap()), "{private}");
        }
        for public in ["1.1.1.1", "203.0.114.1", "172.32.0.1", "2606:4700::1111"] {
            assert!(allowed(&[], &[]).may_reach(public.parse().unwrap()), "{public}");
        }
        assert!(allowed(&[], &["127.0.0.1"]).may_reach("::ffff:127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn what_is_no_host_or_network_is_refused() {
        for (hosts, networks, key) in [
            (&["http://x"][..], &[][..], "hosts"),
            (&[""], &[], "hosts"),
            (&["a:b"], &[], "hosts"),
            (&[], &["10.0.0.0/40"], "networks"),
            (&[], &["example.com"], "networks"),
        ] {
            let all = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
            let options = ActionOptions { hosts: all(hosts), networks: all(networks), ..ActionOptions::default() };
            assert_eq!(options.problem().map(|(key, _)| key), Some(key), "{hosts:?} {networks:?}");
        }
    }
}
