//! A real browser, driven through WebDriver.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// How Chromium is started: it must not look for anything on the network.
const ARGUMENTS: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// The key of elements in WebDriver.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one window.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts a browser, with a fresh profile in this directory; nothing where there is none on this machine.
    pub fn start(profile: &Path) -> Option<Browser> {
        let browser = find(&["chromium", "chromium-browser", "google-chrome"])?;
        let driver = find(&["chromedriver"])?;
        if profile.exists() {
            fs::remove_dir_all(profile).unwrap();
        }
        let mut driver =
            Command::new(driver).arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let port = port(&mut driver);
        let mut browser_arguments: Vec<String> = ARGUMENTS.map(str::to_owned).to_vec();
        browser_arguments.push(format!("--user-data-dir={}", profile.display()));
        let options = json!({ "binary": browser, "args": browser_arguments });
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = request(port, "POST", "/session", Some(&capabilities));
        let session = session["sessionId"].as_str().expect("a session").to_owned();
        Some(Browser { driver, port, session })
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        request(self.port, "POST", &format!("/session/{}/{path}", self.session), Some(body))
    }

    /// Opens a file.
    pub fn open(&self, path: &Path) {
        self.post("url", &json!({ "url": format!("file://{}", path.display()) }));
    }

    pub fn resize(&self, width: u32, height: u32) {
        self.post("window/rect", &json!({ "width": width, "height": height }));
    }

    /// What a script returns.
    pub fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Moves the mouse over an element.
    pub fn hover(&self, selector: &str) {
        let element = self.post("element", &json!({ "using": "css selector", "value": selector }));
        let origin = json!({ ELEMENT: element[ELEMENT] });
        let steps = json!([{ "type": "pointerMove", "duration": 0, "origin": origin, "x": 0, "y": 0 }]);
        let source =
            json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": steps });
        self.post("actions", &json!({ "actions": [source] }));
    }

    /// Presses a key.
    pub fn press(&self, key: &str) {
        let steps = json!([{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }]);
        self.post("actions", &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": steps }] }));
    }

    /// A picture of what is seen, in PNG.
    pub fn screenshot(&self) -> Vec<u8> {
        let path = format!("/session/{}/screenshot", self.session);
        decode(request(self.port, "GET", &path, None).as_str().expect("a picture"))
    }

    /// What the browser has complained about.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.post("se/log", &json!({ "type": "browser" }));
        let messages = log.as_array().expect("a list").iter().map(|entry| entry["message"].as_str().unwrap_or("?"));
        messages.map(str::to_owned).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let path = format!("/session/{}", self.session);
        let _ = std::panic::catch_unwind(|| request(self.port, "DELETE", &path, None));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The first of these programs that there is.
fn find(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    names
        .iter()
        .find_map(|name| env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file()))
}

/// The port that the driver says it listens on.
fn port(driver: &mut Child) -> u16 {
    let lines = BufReader::new(driver.stdout.take().expect("the output is piped")).lines();
    let said = lines.map_while(Result::ok).find_map(|line| {
        let number = line.split("started successfully on port ").nth(1)?;
        number.trim_end_matches('.').parse().ok()
    });
    said.expect("the driver says on which port it listens")
}

/// Sends a request to the driver, and gives the value that it answers.
fn request(port: u16, method: &str, path: &str, body: Option<&Value>) -> Value {
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut answer = vec![0; length];
    reader.read_exact(&mut answer).unwrap();
    let mut answer: Value = serde_json::from_slice(&answer).unwrap();
    let value = answer["value"].take();
    assert!(value.get("error").is_none(), "{method} {path}: {value}");
    value
}

/// Decodes base 64.
fn decode(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte)).collect::<Vec<_>>();
    let bytes = digits.chunks(4).flat_map(|group| {
        let number = group.iter().enumerate().fold(0, |sum, (at, digit)| sum | digit << (18 - 6 * at));
        let whole = [(number >> 16) as u8, (number >> 8) as u8, number as u8];
        whole.into_iter().take(group.len() - 1)
    });
    bytes.collect()
}
