//! The farm as a value in a Rust test: what it takes along when it is dropped.

use peerfarm::Farm;
use tokio::net::TcpStream;

use crate::support::{Request, raw, tls};

#[tokio::test]
async fn a_dropped_farm_leaves_nothing() {
    let farm = Farm::builder().plain_http().start().await.unwrap();
    let addresses = farm.addresses().clone();
    let state = farm.ca_file().parent().unwrap().to_owned();
    assert!(state.exists());
    let (secure, plain, control) = (
        addresses.listen[0],
        addresses.listen_http.unwrap(),
        addresses.control,
    );
    let mut resting = TcpStream::connect(plain).await.unwrap();
    let nodeinfo = Request::get("https://mastodon1.test/nodeinfo/2.0");
    assert_eq!(nodeinfo.send_over(&mut resting).await.status, 200);
    let trusting = tls::trusting(&farm, &["http/1.1"]);
    let mut sealed = tls::connect(secure, "mastodon1.test", trusting).await.unwrap();
    let mut held = raw::begin(control, "/hook/hang-on").await;
    assert_eq!(farm.wait().requests(1).await.unwrap().totals.in_flight, 1);

    drop(farm);
    assert!(raw::ended(&mut resting).await.is_empty());
    assert!(raw::ended(&mut sealed).await.is_empty());
    assert!(raw::ended(&mut held).await.is_empty());
    assert!(!state.exists());
    for address in [secure, plain, control] {
        let refused = TcpStream::connect(address).await.unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused, "{address}");
    }
}
