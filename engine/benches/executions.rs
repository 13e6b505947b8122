//! How fast executions are explored.
#[path = "../tests/programs/mod.rs"]
mod programs;

use dpor_engine::explore::{Config, explore};
use dpor_engine::litmus::Litmus;
use dpor_engine::model::MemoryModel;
use std::time::Instant;

fn main() {
    let run = |name: &str, p: Litmus, rate: f64, expect: u64| {
        let t = Instant::now();
        let r = explore(&p, &Config::new(MemoryModel::Rc11));
        let s = t.elapsed().as_secs_f64();
        let per = r.stats.executions as f64 / s;
        println!(
            "{name:14} {:>9} ({expect}) blocked {} {:.3}s {:>10.0}/s  x{:.1} events/exec {:.2} revisits {} / {} peak {}",
            r.stats.executions,
            r.stats.blocked,
            s,
            per,
            per / rate,
            r.stats.events as f64 / r.stats.executions as f64,
            r.stats.revisits_done,
            r.stats.revisits_tried,
            r.stats.peak_bytes
        );
    };
    run("ainc(9)", programs::ainc(9), 17000., 362880);
    run("binc(6)", programs::binc(6), 18700., 518400);
    run("inc(6)", programs::inc(6), 126000., 518400);
    run("casw(6)", programs::casw(6), 126000., 1270080);
    run("casrot(12)", programs::casrot(12), 94000., 919146);
    run("fib_bench(5)", programs::fib_bench(5), 107000., 525630);
    run("lastzero(15)", programs::lastzero(15), 9400., 147456);
    run("readers(16)", programs::readers(16), 15800., 65536);
    run("sb_ring(15)", programs::sb_ring(15), 18900., 32768);
    run("sb_ring_sc(15)", programs::sb_ring_sc(15), 18900., 32767);
    run("sigma(8)", programs::sigma(8), 130000., 2027025);
    run("mutex(8)", programs::mutex(8), 11000., 40320);
    run("exp_mem(9)", programs::exp_mem(9), 17000., 725760);
    run("n_writers(9)", programs::n_writers(9), 17000., 362880);
    run("lastwrite(9)", programs::lastwrite(9), 17000., 362880);
}
