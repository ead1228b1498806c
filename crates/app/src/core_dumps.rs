//! Keys stand in this process's memory: it is not to be written to a disk when it ends badly.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Turns core dumps off, for this process and those that it starts. A system that refuses keeps its own ways: a run
/// without keys is worth having there.
pub fn forbid_core_dumps() {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    if setrlimit(Resource::Core, none).is_err() {
        let soft = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
        let _ = setrlimit(Resource::Core, soft);
    }
    // A handler of the kernel's (`core_pattern`) heeds no limit, and other processes of the user could read the memory.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}
