//! An HTML page, put together part by part. Whatever text it is given is escaped.

use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:2em auto;padding:0 1em;color:#222}\
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:collapse;font-size:13px}\
td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}th:first-child,td:first-child{text-align:left}\
td.text{text-align:left}.pass{color:#17682c}.fail{color:#a01616}svg{max-width:100%;height:auto}code{font-size:12px}";

/// A page in the making.
#[derive(Debug, Clone)]
pub struct Page {
    text: String,
}

impl Page {
    /// A page with its title; `verdict`, if there is one, is `pass` or `fail` and stands beside it.
    pub fn new(title: &str, verdict: Option<&str>) -> Self {
        let title = escape(title);
        let mut text = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style><h1>{title}"
        );
        if let Some(verdict) = verdict.map(escape) {
            let _ = write!(text, " <span class=\"{verdict}\">{verdict}</span>");
        }
        text.push_str("</h1>");
        Self { text }
    }

    /// A heading.
    pub fn heading(&mut self, text: &str) {
        let _ = write!(self.text, "<h2>{}</h2>", escape(text));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        let _ = write!(self.text, "<p>{}</p>", escape(text));
    }

    /// A paragraph about something that is wrong.
    pub fn fault(&mut self, text: &str) {
        let _ = write!(self.text, "<p class=\"fail\">{}</p>", escape(text));
    }

    /// A plot of [`crate::lines`] or [`crate::bars`].
    pub fn plot(&mut self, svg: &str) {
        self.text.push_str(svg);
    }

    /// A table with a row of heads; a cell that is exactly `pass` or `fail` is coloured.
    pub fn table<const N: usize>(
        &mut self,
        heads: [&str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) {
        self.text.push_str("<table><tr>");
        for head in heads {
            let _ = write!(self.text, "<th>{}</th>", escape(head));
        }
        self.text.push_str("</tr>");
        for row in rows {
            self.text.push_str("<tr>");
            for cell in &row {
                let class = if matches!(cell.as_str(), "pass" | "fail") {
                    cell.as_str()
                } else {
                    ""
                };
                let _ = write!(self.text, "<td class=\"{class}\">{}</td>", escape(cell));
            }
            self.text.push_str("</tr>");
        }
        self.text.push_str("</table>");
    }

    /// Names and texts, without heads.
    pub fn list<'a>(&mut self, rows: impl IntoIterator<Item = (&'a str, String)>) {
        self.text.push_str("<table>");
        for (name, value) in rows {
            let (name, value) = (escape(name), escape(&value));
            let _ = write!(
                self.text,
                "<tr><td>{name}</td><td class=\"text\">{value}</td></tr>"
            );
        }
        self.text.push_str("</table>");
    }

    /// The finished page.
    pub fn finish(mut self) -> String {
        self.text.push_str("</html>\n");
        self.text
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A fraction in percent.
pub fn percent(fraction: f64) -> String {
    format!("{:.2} %", fraction * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_is_given_is_text() {
        let mut page = Page::new("a < b", Some("pass"));
        page.fault("<script>");
        page.table(["x"], [["\"y\"".to_owned()], ["fail".to_owned()]]);
        page.list([("n", "1 & 2".to_owned())]);
        let text = page.finish();
        for part in [
            "a &lt; b",
            "&lt;script&gt;",
            "&quot;y&quot;",
            "class=\"fail\">fail",
            "1 &amp; 2",
            "class=\"pass\">pass",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
