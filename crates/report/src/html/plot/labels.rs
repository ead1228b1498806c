//! Where names stand beside their points, so that few of them cover each other.

/// The side of its point on which a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) is_right: bool,
    pub(super) is_above: bool,
}

impl Place {
    /// In the order they are tried.
    pub(super) const ALL: [Place; 4] = [
        Place { is_right: true, is_above: true },
        Place { is_right: true, is_above: false },
        Place { is_right: false, is_above: true },
        Place { is_right: false, is_above: false },
    ];

    /// What Vega-Lite calls it: align, baseline, dx, dy.
    pub(super) const fn words(self) -> (&'static str, &'static str, i32, i32) {
        match (self.is_right, self.is_above) {
            (true, true) => ("left", "bottom", 7, -3),
            (true, false) => ("left", "top", 7, 4),
            (false, true) => ("right", "bottom", -7, -3),
            (false, false) => ("right", "top", -7, 4),
        }
    }
}

/// A plot of a phone's width, px: on a wider one there is only more room.
const WIDTH: f64 = 300.0;
/// Room of a name: a letter's width and a line's height, px.
const LETTER: f64 = 6.2;
const LINE: f64 = 13.0;

/// A name's box: left, top, right, bottom.
type Room = (f64, f64, f64, f64);

/// A place for each of `points` (x and y from 0 to 1, y downwards, and the name's letters), by greed: the first that
/// covers no other name and stays inside, else the one that covers least.
pub(super) fn places(points: &[(f64, f64, usize)], height: f64) -> Vec<Place> {
    let mut taken: Vec<Room> = Vec::new();
    let mut chosen = Vec::with_capacity(points.len());
    for (x, y, letters) in points {
        let (x, y, width) = (x * WIDTH, y * height, *letters as f64 * LETTER);
        let rooms = Place::ALL.map(|place| (place, room(place, x, y, width)));
        let cost = |room: &Room| {
            let covered: f64 = taken.iter().map(|other| overlap(*room, *other)).sum();
            covered + (room.2 - WIDTH).max(0.0) * LINE + (-room.0).max(0.0) * LINE
        };
        let best = rooms.iter().min_by(|a, b| cost(&a.1).total_cmp(&cost(&b.1)));
        if let Some((place, room)) = best {
            taken.push(*room);
            chosen.push(*place);
        }
    }
    chosen
}

fn room(place: Place, x: f64, y: f64, width: f64) -> Room {
    let left = if place.is_right { x + 7.0 } else { x - 7.0 - width };
    let top = if place.is_above { y - 3.0 - LINE } else { y + 4.0 };
    (left, top, left + width, top + LINE)
}

fn overlap(a: Room, b: Room) -> f64 {
    let width = a.2.min(b.2) - a.0.max(b.0);
    let height = a.3.min(b.3) - a.1.max(b.1);
    width.max(0.0) * height.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_clear_of_each_other_and_of_the_edge() {
        let at = |x, y| (x, y, 14);
        assert_eq!(places(&[at(0.1, 0.5)], 380.0), [Place::ALL[0]]);
        assert_eq!(places(&[at(0.1, 0.5), at(0.12, 0.5)], 380.0), [Place::ALL[0], Place::ALL[1]]);
        assert_eq!(places(&[at(0.95, 0.5)], 380.0), [Place::ALL[2]]);
        assert_eq!(places(&[], 380.0), []);
    }
}
