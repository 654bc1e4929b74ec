//! Small SVG plots: lines and stacked bars.

use plotters::prelude::*;

const SIZE: (u32, u32) = (920, 260);

type Colour = (u8, u8, u8);

/// Colours of series: distinct also without red and green.
const COLOURS: [Colour; 6] = [
    (0, 90, 160),
    (230, 130, 0),
    (0, 140, 110),
    (170, 60, 130),
    (90, 90, 90),
    (120, 180, 230),
];

/// Lines over a common axis.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    /// What the horizontal axis shows.
    pub x: &'a str,
    /// What the vertical axis shows.
    pub y: &'a str,
    /// The vertical axis reaches at least this far.
    pub y_max: f64,
    /// Names and points.
    pub series: Vec<(String, Vec<(f64, f64)>)>,
}

/// Stacked bars by name.
#[derive(Debug, Clone)]
pub struct Bars<'a> {
    /// What the bars are.
    pub x: &'a str,
    /// What their height shows.
    pub y: &'a str,
    /// Names of the bars.
    pub names: Vec<String>,
    /// Names of the parts of a bar.
    pub series: &'a [&'a str],
    /// Parts of each bar.
    pub stacks: Vec<Vec<f64>>,
}

fn colour(index: usize) -> RGBColor {
    let (r, g, b) = COLOURS[index % COLOURS.len()];
    RGBColor(r, g, b)
}

/// A line plot; drawing into a string cannot fail but for a bug here, which then shows in the page.
pub fn lines(chart: &Lines<'_>) -> String {
    let mut svg = String::new();
    match draw_lines(&mut svg, chart) {
        Ok(()) => svg,
        Err(error) => format!("<p>no plot: {error}</p>"),
    }
}

/// A bar plot.
pub fn bars(chart: &Bars<'_>) -> String {
    let mut svg = String::new();
    match draw_bars(&mut svg, chart) {
        Ok(()) => svg,
        Err(error) => format!("<p>no plot: {error}</p>"),
    }
}

/// Pixels of a bar and the space around it.
fn width_of_bar(count: usize) -> i32 {
    let plot = SIZE.0 as usize - 54 - 32;
    (plot / count.max(1)) as i32
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw_lines(svg: &mut String, chart: &Lines<'_>) -> Drawn {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let x_max = chart
        .series
        .iter()
        .flat_map(|(_, points)| points)
        .map(|p| p.0)
        .fold(1e-9, f64::max);
    let y_max = chart
        .series
        .iter()
        .flat_map(|(_, points)| points)
        .map(|p| p.1)
        .fold(chart.y_max, f64::max)
        * 1.6;
    let mut context = ChartBuilder::on(&root)
        .margin(8)
        .margin_right(24)
        .x_label_area_size(34)
        .y_label_area_size(54)
        .build_cartesian_2d(0.0..x_max, 0.0..y_max)?;
    context
        .configure_mesh()
        .x_desc(chart.x)
        .y_desc(chart.y)
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (index, (name, points)) in chart.series.iter().enumerate() {
        let colour = colour(index);
        context
            .draw_series(LineSeries::new(
                points.iter().copied(),
                colour.stroke_width(2),
            ))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    context
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .draw()?;
    root.present()?;
    Ok(())
}

fn draw_bars(svg: &mut String, chart: &Bars<'_>) -> Drawn {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let top = chart
        .stacks
        .iter()
        .map(|stack| stack.iter().sum::<f64>())
        .fold(1.0, f64::max)
        * 1.6;
    let count = chart.names.len().max(1);
    let mut context = ChartBuilder::on(&root)
        .margin(8)
        .margin_right(24)
        .x_label_area_size(34)
        .y_label_area_size(54)
        .build_cartesian_2d(0.0..count as f64, 0.0..top)?;
    let label = |x: &f64| chart.names.get(*x as usize).cloned().unwrap_or_default();
    context
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(count + 1)
        .x_label_offset(width_of_bar(count) / 2)
        .x_label_formatter(&label)
        .x_desc(chart.x)
        .y_desc(chart.y)
        .draw()?;
    for (index, name) in chart.series.iter().enumerate() {
        let colour = colour(index);
        let bar = |(place, stack): (usize, &Vec<f64>)| {
            let from: f64 = stack[..index].iter().sum();
            let corners = [
                (place as f64 + 0.15, from),
                (place as f64 + 0.85, from + stack[index]),
            ];
            Rectangle::new(corners, colour.filled())
        };
        context
            .draw_series(chart.stacks.iter().enumerate().map(bar))?
            .label(*name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
    }
    context
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .draw()?;
    root.present()?;
    Ok(())
}
