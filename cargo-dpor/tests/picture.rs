//! `--report`: pages with pictures of failing executions, looked at with a real browser.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::Project;
use support::browser::Browser;

/// A race among three threads, a deadlock, and stores that are not seen.
const PROGRAM: &str = r#"
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::sync::Mutex;
use std::thread;

struct Cell(UnsafeCell<u32>);
unsafe impl Sync for Cell {}

#[dpor::test]
fn races() {
    static DATA: Cell = Cell(UnsafeCell::new(0));
    static STAGE: AtomicU32 = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { *DATA.0.get() = 1 };
            STAGE.store(1, Release);
        });
        scope.spawn(|| {
            if STAGE.load(Relaxed) == 1 {
                STAGE.store(2, Release);
            }
        });
        if STAGE.load(Acquire) == 2 {
            unsafe { *DATA.0.get() += 1 }; // </script><!--<script><b>
        }
    });
}

#[dpor::test]
fn waits() {
    static A: Mutex<()> = Mutex::new(());
    static B: Mutex<()> = Mutex::new(());
    let thread = thread::spawn(|| {
        let _b = B.lock();
        let _a = A.lock();
    });
    let _a = A.lock();
    let _b = B.lock();
    drop((_a, _b));
    thread.join().unwrap();
}

#[dpor::test]
fn does_not_see() {
    static X: AtomicU32 = AtomicU32::new(0);
    static Y: AtomicU32 = AtomicU32::new(0);
    let thread = thread::spawn(|| {
        X.store(1, Relaxed);
        X.store(2, Relaxed);
        Y.load(Relaxed)
    });
    Y.store(1, Relaxed);
    let x = X.load(Relaxed);
    assert!(x == 2 || thread.join().unwrap() == 1, "<b>neither</b><!--");
}
"#;

fn project() -> Project {
    let project = Project::package("picture", "").file("tests/pictures.rs", PROGRAM).file("src/lib.rs", "");
    project.run("test --quiet --report pages").expect_code(1).expect_stdout(&["report: pages/races.rc11.html\n"]);
    project
}

/// What a page has been made from.
fn data(page: &Path) -> Value {
    let text = fs::read_to_string(page).unwrap();
    let data = text.split("<script type=\"application/json\" id=\"data\">").nth(1).unwrap();
    serde_json::from_str(data.split("</script>").next().unwrap()).unwrap()
}

/// The trace of a failing execution, as `cargo dpor replay` prints it.
fn trace(project: &Project, test: &str) -> Value {
    let run = project.run(&format!("replay --quiet --format json target/dpor/replay/{test}.rc11.json"));
    let event: Value = serde_json::from_str(&run.expect_code(1).stdout).unwrap();
    event["error"]["trace"].clone()
}

fn len(value: &Value) -> usize {
    value.as_array().unwrap().len()
}

#[test]
fn pages_show_the_whole_execution() {
    let project = project();
    for (test, others) in [("races", 2), ("waits", 2), ("does_not_see", 1)] {
        let (data, trace) = (data(&project.path(&format!("pages/{test}.rc11.html"))), trace(&project, test));
        assert_eq!(len(&data["events"]), len(&trace["steps"]) + others, "{test}");
        assert_eq!(len(&data["threads"]), len(&trace["threads"]), "{test}");
        let reads = trace["steps"].as_array().unwrap().iter().filter(|step| !step["read"]["from"].is_null()).count();
        assert_eq!(len(&data["edges"]["rf"]), reads, "{test}");
        assert_eq!(len(&data["edges"]["sw"]), len(&trace["sw"]), "{test}");
        let overwrites: usize = trace["co"].as_array().unwrap().iter().map(|writes| len(writes) - 1).sum();
        assert_eq!(len(&data["edges"]["co"]), overwrites, "{test}");
        let dot = fs::read_to_string(project.path(&format!("pages/{test}.rc11.dot"))).unwrap();
        assert_eq!(dot.matches("[label=rf,").count(), reads, "{test}");
        assert_eq!(dot.matches("subgraph cluster_").count(), len(&trace["threads"]), "{test}");
        assert!(dot.starts_with("digraph ") && dot.ends_with("}\n"), "{dot}");
    }
    let Some(browser) = Browser::start(&project.path("profile")) else {
        eprintln!("skipped: there is no chromium and chromedriver on this machine to look at the pages with");
        return;
    };
    for test in ["races", "waits", "does_not_see"] {
        look(&browser, &project, test);
    }
}

/// Looks at a page with a browser.
fn look(browser: &Browser, project: &Project, test: &str) {
    let page = project.path(&format!("pages/{test}.rc11.html"));
    let data = data(&page);
    for (width, height) in [(1400, 900), (640, 800)] {
        browser.resize(width, height);
        browser.open(&page);
        everything_is_drawn(browser, &data);
        pointing_at_an_event_shows_its_order(browser, &data);
        it_can_be_used_by_keyboard(browser, &data);
        let picture = browser.screenshot();
        assert!(picture.starts_with(b"\x89PNG") && picture.len() > 10_000, "{} bytes", picture.len());
        fs::write(project.path(&format!("{test}-{width}.png")), picture).unwrap();
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn everything_is_drawn(browser: &Browser, data: &Value) {
    let count = |selector: &str| {
        let script = format!(
            "return [...document.querySelectorAll('{selector}')].filter(element => {{ \
             const box = element.getBoundingClientRect(); return box.width + box.height > 0; }}).length"
        );
        browser.run(&script).as_u64().unwrap() as usize
    };
    assert_eq!(count("g.event rect"), len(&data["events"]));
    assert_eq!(count("text.head"), len(&data["threads"]));
    for kind in ["rf", "co", "sw"] {
        assert_eq!(count(&format!("path.edge.{kind}")), len(&data["edges"][kind]), "{kind}");
    }
    assert_eq!(browser.run("return document.querySelectorAll('b, iframe, img').length"), 0, "text became markup");
    let lines = "return document.querySelectorAll('section[data-file=\"tests/pictures.rs\"] .source').length";
    assert_eq!(browser.run(lines).as_u64().unwrap() as usize, PROGRAM.split('\n').count());
    // Arrows begin and end where events are, also after what is wide has been scrolled.
    let outside = "const svg = document.querySelector('svg').getBoundingClientRect();
        return [...document.querySelectorAll('g.event rect')].filter(rect => {
            const box = rect.getBoundingClientRect();
            return box.left < svg.left || box.right > svg.right || box.bottom > svg.bottom;
        }).length";
    assert_eq!(browser.run(outside), 0);
}

/// The events that happen before one, by what the data says: those of its thread, and who synchronizes with them.
fn before(data: &Value, id: &str) -> Vec<String> {
    let events = data["events"].as_array().unwrap();
    let place = |id: &str| events.iter().position(|event| event["id"] == id).unwrap();
    let mut found: Vec<String> = Vec::new();
    let mut queue = vec![id.to_owned()];
    while let Some(id) = queue.pop() {
        let event = &events[place(&id)];
        let own = events[..place(&id)].iter().filter(|other| other["thread"] == event["thread"]);
        let mut earlier: Vec<String> = own.map(|other| other["id"].as_str().unwrap().to_owned()).collect();
        let pairs = data["edges"]["sw"].as_array().unwrap().iter();
        earlier.extend(pairs.filter(|pair| pair[1] == id.as_str()).map(|pair| pair[0].as_str().unwrap().to_owned()));
        let lane = data["threads"].as_array().unwrap().iter().find(|lane| lane["number"] == event["thread"]).unwrap();
        earlier.extend(lane["spawned_by"].as_str().map(str::to_owned));
        for id in earlier {
            if !found.contains(&id) {
                found.push(id.clone());
                queue.push(id);
            }
        }
    }
    found.sort();
    found
}

fn highlighted(browser: &Browser, class: &str) -> Vec<String> {
    let script = format!("return [...document.querySelectorAll('g.event.{class}')].map(event => event.dataset.event)");
    let mut ids: Vec<String> =
        browser.run(&script).as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

fn pointing_at_an_event_shows_its_order(browser: &Browser, data: &Value) {
    let last = data["events"].as_array().unwrap().iter().rfind(|event| !event["step"].is_null()).unwrap();
    let id = last["id"].as_str().unwrap();
    assert_eq!(highlighted(browser, "before"), Vec::<String>::new());
    browser.run(&format!(
        "document.querySelector('[data-event={id}]').scrollIntoView({{ block: 'center', inline: 'center' }})"
    ));
    browser.hover(&format!("[data-event={id}]"));
    assert_eq!(highlighted(browser, "chosen"), [id]);
    assert_eq!(highlighted(browser, "before"), before(data, id));
    let here = browser.run("return document.querySelector('.source.here').dataset.line");
    assert_eq!(here.as_str().unwrap(), last["line"].to_string());
}

fn it_can_be_used_by_keyboard(browser: &Browser, data: &Value) {
    let [down, up, right, home, end, escape] = ["\u{e015}", "\u{e013}", "\u{e014}", "\u{e011}", "\u{e010}", "\u{e00c}"];
    let events = data["events"].as_array().unwrap();
    browser.hover("h1");
    browser.press(escape);
    browser.press(home);
    assert_eq!(highlighted(browser, "chosen"), [events[0]["id"].as_str().unwrap()]);
    browser.press(down);
    browser.press(up);
    assert_eq!(highlighted(browser, "chosen"), [events[0]["id"].as_str().unwrap()]);
    browser.press(right);
    let chosen = highlighted(browser, "chosen");
    let thread = events.iter().find(|event| event["id"] == chosen[0].as_str()).unwrap()["thread"].clone();
    assert_eq!(thread, 1);
    browser.press(end);
    assert_eq!(highlighted(browser, "chosen"), [events.last().unwrap()["id"].as_str().unwrap()]);
    let shown = "return getComputedStyle(document.querySelector('path.edge.sw')).display";
    assert_eq!(browser.run(shown), "inline");
    browser.press("s");
    assert_eq!(browser.run(shown), "none");
    browser.press("s");
    assert_eq!(browser.run(shown), "inline");
    browser.press(escape);
    assert_eq!(highlighted(browser, "chosen"), Vec::<String>::new());
}
