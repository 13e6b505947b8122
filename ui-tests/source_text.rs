//! Source with tabs, other letters, and long lines.

use std::sync::atomic::{AtomicU64, Ordering::*};
use std::thread;

#[dpor::test]
fn größe() {
	static ZÄHLER: AtomicU64 = AtomicU64::new(0);
	let faden = thread::spawn(|| ZÄHLER.store(1 << 40, Relaxed));
	let ergebnis = ZÄHLER.load(Relaxed); assert!(ergebnis == 0 || ergebnis == 1, "größer als »eins«: {ergebnis}, {}", "und das in einer sehr langen Zeile");
	faden.join().unwrap();
}
