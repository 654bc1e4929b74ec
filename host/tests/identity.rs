//! What is refused before anything is written.

mod common;

use osprey_hls::regs::{MAP_HASH, identity};
use osprey_host::device::DeviceError;
use osprey_host::device::DevicePair;
use osprey_host::fake::FakePair;
use osprey_host::verbs::{CallerError, Config, Context, Error};

fn open(pair: &mut FakePair) -> Error {
    Context::open(
        &mut pair.port(0),
        Config::new(common::addresses(0)),
        [0; 32],
    )
    .unwrap_err()
}

#[test]
fn unknown_devices_are_refused_naming_both_values() {
    let cases = [
        (identity::MAGIC.at(0), 0x1234_5678),
        (identity::VERSION.at(0), 9),
        (identity::MAP_HASH.at(0), MAP_HASH ^ 1),
        (identity::CAPABILITIES.at(0), 0),
    ];
    for (register, value) in cases {
        let mut pair = FakePair::new();
        pair.engine(0).registers.insert(register, value);
        let before = pair.engine(0).registers.clone();
        let Error::Device(error) = open(&mut pair) else {
            panic!("the device is at fault")
        };
        assert_eq!(
            pair.engine(0).registers,
            before,
            "nothing is written to a stranger"
        );
        if let DeviceError::MapHash { found, expected } = error {
            assert_eq!((found, expected), (MAP_HASH ^ 1, MAP_HASH));
            let text = error.to_string();
            assert!(
                text.contains(&format!("{found:#010x}"))
                    && text.contains(&format!("{expected:#010x}"))
            );
        }
    }
}

#[test]
fn field_case_43_a_bar_of_ones_is_no_device() {
    let mut pair = FakePair::new();
    pair.engine(0)
        .registers
        .insert(identity::MAGIC.at(0), u32::MAX);
    assert_eq!(open(&mut pair), Error::Device(DeviceError::Absent));
}

#[test]
fn settings_that_the_device_cannot_do_are_the_callers_fault() {
    let changes: [fn(&mut Config); 5] = [
        |c| c.planes.clear(),
        |c| c.planes.extend(c.planes.clone()),
        |c| c.mtu = 1500,
        |c| c.path_window = 65,
        |c| c.paths_per_plane = 9,
    ];
    for change in changes {
        let mut config = Config::new(common::addresses(0));
        change(&mut config);
        let error = Context::open(&mut FakePair::new().port(0), config, [0; 32]).unwrap_err();
        assert!(matches!(
            error,
            Error::Caller(CallerError::Planes { .. } | CallerError::Setting { .. })
        ));
    }
}

#[test]
fn a_stuck_table_access_ends_in_an_error() {
    let mut pair = FakePair::new();
    pair.engine(0).stuck = true;
    assert!(matches!(
        open(&mut pair),
        Error::Device(DeviceError::Stuck { .. })
    ));
}
