//! A headless Chromium, driven by chromedriver over WebDriver: JSON over HTTP on this machine, so that the standard
//! library is client enough.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// How long a script may take, and so a page to draw itself, ms.
const SCRIPT_MS: u64 = 60_000;

/// A browser and its driver; both end with it.
pub(crate) struct Browser {
    driver: Child,
    /// Held open, since a driver that cannot write ends.
    _output: BufReader<ChildStdout>,
    port: u16,
    session: String,
}

impl Browser {
    /// `None`, and a line that says so, where there is no Chromium here.
    pub(crate) fn start() -> Option<Self> {
        let started =
            Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let Ok(mut driver) = started else {
            println!(
                "skipped: the report in a browser: no chromedriver here (Debian: chromium, chromium-driver)"
            );
            return None;
        };
        let mut output = BufReader::new(driver.stdout.take()?);
        let mut line = String::new();
        let port = loop {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "chromedriver ended before it said its port");
            if let Some(port) = line
                .trim_end()
                .trim_end_matches('.')
                .rsplit_once("successfully on port ")
                .and_then(|(_, port)| port.parse().ok())
            {
                break port;
            }
        };
        let mut browser = Self { driver, _output: output, port, session: String::new() };
        let options = json!({"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"]});
        let logs = json!({"browser": "ALL", "performance": "ALL"});
        let wanted = json!({"goog:chromeOptions": options, "goog:loggingPrefs": logs, "timeouts": {"script": SCRIPT_MS}});
        let wanted = json!({"capabilities": {"alwaysMatch": wanted}});
        match browser.ask("POST", "/session", &wanted) {
            Ok(session) => {
                browser.session = format!("/session/{}", session["sessionId"].as_str().unwrap());
                Some(browser)
            }
            Err(error) => {
                println!("skipped: the report in a browser: chromedriver started no Chromium: {error}");
                None
            }
        }
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(|error| error.to_string())?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .map_err(|error| error.to_string())?;
        let answer = read_answer(BufReader::new(stream)).map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        match answer["value"].get("error") {
            Some(error) => Err(format!("{error}: {}", answer["value"]["message"])),
            None => Ok(answer["value"].clone()),
        }
    }

    fn command(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("{}{path}", self.session), body)
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// A command of Chromium's own protocol.
    pub(crate) fn devtools(&self, name: &str, parameters: &Value) -> Value {
        self.command("/goog/cdp/execute", &json!({"cmd": name, "params": parameters}))
    }

    /// What a script returns.
    pub(crate) fn script(&self, text: &str) -> Value {
        self.command("/execute/sync", &json!({"script": text, "args": []}))
    }

    /// Opens a file at this width, light or dark, and waits until every plot that is shown has been drawn.
    pub(crate) fn open(&self, path: &std::path::Path, width: u32, scheme: &str) {
        let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.devtools("Emulation.setEmulatedMedia", &features);
        self.command("/url", &json!({"url": format!("file://{}", path.display())}));
        self.wait_for("document.documentElement.dataset.waiting === '0'");
    }

    /// Waits until an expression is true, as long as a script may run.
    pub(crate) fn wait_for(&self, expression: &str) {
        self.script(&format!(
            "return new Promise((done) => {{ const look = () => {expression} ? done(true) : setTimeout(look, 50); look(); }})"
        ));
    }

    /// What has been logged since this was last asked: `browser` is the console, `performance` the protocol's events.
    pub(crate) fn log(&self, kind: &str) -> Vec<Value> {
        self.command("/se/log", &json!({"type": kind})).as_array().cloned().unwrap_or_default()
    }

    /// Presses a key wherever the page is.
    pub(crate) fn press(&self, key: &str) {
        let actions = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        self.command("/actions", &json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}));
    }

    /// Moves the pointer to a place of the window.
    pub(crate) fn point(&self, x: f64, y: f64) {
        for x in [x - 1.0, x] {
            self.devtools("Input.dispatchMouseEvent", &json!({"type": "mouseMoved", "x": x, "y": y}));
        }
    }

    /// Presses and releases the pointer's first button at a place of the window, as a person does.
    pub(crate) fn click(&self, x: f64, y: f64) {
        self.point(x, y);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.devtools("Input.dispatchMouseEvent", &event);
        }
    }

    /// The page on paper, as a PDF in base64.
    pub(crate) fn print(&self) -> String {
        self.command("/print", &json!({"background": true})).as_str().unwrap_or_default().to_owned()
    }
}

/// The body of an HTTP answer of stated length.
fn read_answer(mut stream: impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(stated) = line.strip_prefix("content-length:") {
            length = stated.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(body)
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ends Chromium; the driver is our own child.
        let _ = self.ask("DELETE", &self.session, &json!({}));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
