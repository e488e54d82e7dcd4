"""Recomputes the figures of a month and of years from what was sent, by the published definitions and without the code of the service.

Reads JSON from standard input and writes JSON. Times are Unix milliseconds; spans do not contain their end.
"""

import bisect
import functools
import json
import math
import sys
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from zoneinfo import ZoneInfo

MINUTE = 60_000
SLOT = 5 * MINUTE
QUARTER = 15 * MINUTE
HOUR = 60 * MINUTE
DAY = 24 * HOUR
SILENCE = 20 * MINUTE
NO_HITS = 4 * HOUR

given = json.load(sys.stdin)
ZONE = ZoneInfo(given["zone"])
FROM, UNTIL, NOW = given["from"], given["until"], given["now"]
HEAVY = {"TRUCK", "BUS"} | {str(n) for n in range(4, 14)}
WORDS = {"car": "CAR", "truck": "TRUCK", "cyclist": "BICYCLE", "pedestrian": "PEDESTRIAN"}
SLOW = {"BICYCLE", "PEDESTRIAN"}


@functools.lru_cache(maxsize=None)
def local(at):
    return datetime.fromtimestamp(at / 1000, timezone.utc).astimezone(ZONE)


def midnights():
    day = local(FROM).replace(hour=0, minute=0, second=0, microsecond=0)
    bounds = [FROM]
    while bounds[-1] < UNTIL:
        day = (day.replace(tzinfo=None) + timedelta(days=1)).replace(tzinfo=ZONE)
        bounds.append(int(day.timestamp() * 1000))
    return bounds


def rounded(value, digits):
    """Half up."""
    if value is None:
        return None
    scaled = Fraction(value) * 10**digits
    return float(Fraction(math.floor(scaled + Fraction(1, 2)), 10**digits))


def merged(spans):
    result = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1][1] = max(end, result[-1][1])
        elif start < end:
            result.append([start, end])
    return result


def slots_over(start, end):
    return range(start // SLOT, -(-end // SLOT))


def whole_slots(start, end):
    return range(-(-start // SLOT), end // SLOT)


class Place:
    """What is known about a place: `vehicles` as (time, length, direction, lane, class, number, speed)."""

    def __init__(self, vehicles, covered, no_hits, broken, reviews, exclude):
        no_time, no_counts = set(), set()
        if exclude:
            for start, end in no_hits:
                no_time.update(whole_slots(max(start, FROM - DAY), min(end, UNTIL + DAY)))
            for start, end in broken:
                no_time.update(slots_over(start, end))
                no_counts.update(slots_over(start, end))
            for start, end, decision in reviews:
                for slots in (no_time, no_counts):
                    (slots.update if decision == "REJECT" else slots.difference_update)(slots_over(start, end))
        self.rejected = {slot for slot in no_time if covered.get(slot, 0) > 0}
        self.vehicles = []
        for vehicle in vehicles:
            if vehicle[0] // SLOT in no_counts:
                self.rejected.add(vehicle[0] // SLOT)
            else:
                self.vehicles.append(vehicle)
        self.covered = {slot: share for slot, share in covered.items() if slot not in no_time}
        self.accepted = [(s, e) for s, e, d in reviews if d == "ACCEPT"] if exclude else []
        self.vehicles.sort(key=lambda vehicle: vehicle[0])

    def bins(self, bounds):
        result = []
        position = 0
        for start, end in zip(bounds, bounds[1:]):
            cells, volume = {}, 0
            while position < len(self.vehicles) and self.vehicles[position][0] < end:
                at, direction, lane, code, number = self.vehicles[position][:5]
                position += 1
                if at < start:
                    continue
                key = (direction, lane, code)
                cells[key] = cells.get(key, 0) + number
                volume += 0 if code in SLOW else number
            slots = range(start // SLOT, end // SLOT)
            known = sum(Fraction(self.covered.get(slot, 0)) for slot in slots) / len(slots)
            if known == 0 and volume == 0 and any(slot in self.rejected for slot in slots):
                status = "EXCLUDED"
            elif known >= Fraction(95, 100):
                status = "VALID"
            else:
                status = "PARTIAL" if known > 0 or volume > 0 else "GAP"
            result.append(
                {
                    "start": start,
                    "end": end,
                    "status": status,
                    "coverage": known,
                    "volume": volume if volume > 0 or known > 0 else None,
                    "cells": cells,
                }
            )
        return result


def of_vehicles(sent, exclude, reviews, silence=True):
    """Single vehicles: of the detector that counts, with the spans of which it sent everything."""
    events = list({event["key"]: event for event in sent["events"] if event["key"] not in sent["deleted"]}.values())
    alive = sorted({event["at"] // SLOT for event in events})
    times = sorted(event["at"] for event in events)
    spans = [[slot * SLOT, (slot + 1) * SLOT] for slot in alive] + sent["observed"]
    spans += [[a, b] for a, b in zip(times, times[1:]) if b - a <= SILENCE]
    covered = {}
    for start, end in merged(spans):
        for slot in slots_over(start, end):
            part = min(end, (slot + 1) * SLOT) - max(start, slot * SLOT)
            covered[slot] = covered.get(slot, Fraction(0)) + Fraction(part, SLOT)
    hits = sorted(event["at"] for event in events if event["counts"])
    no_hits = [(a + 1, b) for a, b in zip(hits, hits[1:] + [NOW]) if silence and b - a > NO_HITS]
    vehicles = []
    for event in events:
        if event["counts"]:
            code = event.get("code") or WORDS.get(event.get("word"), "UNCLASSIFIED")
            vehicles.append((event["at"], event["direction"], event["lane"], code, 1, event.get("speed")))
    return Place(vehicles, covered, no_hits, sent["broken"], reviews, exclude)


def of_periods(sent, exclude, reviews, silence=True):
    """Intervals of a detector with several channels."""
    length = sent["seconds"] * 1000
    latest = {}
    for period in sent["periods"]:
        latest[(period["direction"], period["lane"], period["start"])] = period
    shares, vehicles, busy = {}, [], []
    for (direction, lane, start), period in latest.items():
        counts = period.get("counts")
        is_known = counts is not None and period.get("status") != "FAULT"
        share = Fraction(period.get("samples", 1), period.get("expected", 1)) if is_known else Fraction(0)
        shares.setdefault(start, []).append(share)
        if not is_known:
            continue
        vehicles += [(start, direction, lane, code, number) for code, number in counts.items() if number > 0]
        if sum(counts.values()) > 0:
            busy.append(start)
    covered = {}
    for start, known in shares.items():
        for slot in slots_over(start, start + length):
            if sum(known) > 0:
                covered[slot] = sum(known) / len(known)
    busy = sorted(set(busy))
    no_hits = [(a + length, b) for a, b in zip(busy, busy[1:] + [NOW]) if silence and b - a - length > NO_HITS]
    return Place(vehicles, covered, no_hits, [], reviews, exclude)


def counts(place, bounds, by):
    result = []
    for each in place.bins(bounds):
        cells = {}
        for (direction, lane, code), number in each["cells"].items():
            if code in SLOW and "class" not in by:
                continue
            values = {"direction": direction, "lane": lane, "class": code}
            key = " ".join(str(values[name]) for name in by)
            cells[key] = cells.get(key, 0) + number
        coverage = rounded(each["coverage"], 4)
        result.append([each["start"], each["status"], coverage, each["volume"], cells])
    return result


def lack(bins, start, end, long_gaps=()):
    """Whether a day is not complete."""
    known = sum(each["coverage"] * (each["end"] - each["start"]) for each in bins if each["status"] != "EXCLUDED")
    if known / (end - start) < Fraction(95, 100):
        return True
    hours = {}
    for each in bins:
        at = local(each["start"])
        hours.setdefault((at.hour, at.utcoffset()), []).append(each)
    for same in hours.values():
        length = sum(each["end"] - each["start"] for each in same)
        part = sum(each["coverage"] * (each["end"] - each["start"]) for each in same)
        if part / length < Fraction(75, 100) or any(each["start"] in long_gaps for each in same):
            return True
    return False


def day_of(bins, start, end, long_gaps=()):
    known = [each["volume"] for each in bins if each["volume"] is not None and each["status"] != "EXCLUDED"]
    volume = sum(known) if known else None
    if all(each["status"] == "EXCLUDED" for each in bins):
        return volume, "EXCLUDED"
    if not lack(bins, start, end, long_gaps):
        return volume, "VALID"
    return volume, "GAP" if volume is None else "PARTIAL"


def local_hours():
    bounds = [FROM]
    for at in range(FROM + QUARTER, UNTIL, QUARTER):
        if local(at).minute == 0 or local(at).utcoffset() != local(at - 1).utcoffset():
            bounds.append(at)
    return bounds + [UNTIL]


def long_gaps_of(place, hours):
    """R2: hours with a gap that is too long for their usual volume; those who accepted them decide."""

    def is_usable(each):
        return each["end"] - each["start"] == HOUR and each["status"] in ("VALID", "PARTIAL") and each["coverage"] >= 0.75

    def kind(each):
        at = local(each["start"])
        return at.weekday() > 4, at.hour

    usable = [each for each in hours if is_usable(each)]
    alike = {}
    for each in usable:
        alike.setdefault(kind(each), []).append(each)
    found = set()
    for each in usable:
        if each["coverage"] == 1:
            continue
        before = [
            other["volume"]
            for other in alike[kind(each)]
            if each["start"] - 60 * DAY <= other["start"] and other["end"] <= each["start"]
        ]
        longest = gap = Fraction(0)
        for slot in slots_over(each["start"], each["end"]):
            unknown = (1 - place.covered.get(slot, Fraction(0))) * SLOT
            gap = gap + unknown if unknown > 0 else Fraction(0)
            longest = max(longest, gap)
        if not before or any(s <= each["start"] and e >= each["end"] for s, e in place.accepted):
            continue
        usual = Fraction(sum(before), len(before))
        limit = 5 if usual >= 1500 else 10 if usual >= 500 else 15 if usual >= 100 else 20
        if longest > limit * MINUTE:
            found.add(each["start"])
    return found


def daily(place):
    bounds = midnights()
    hours = place.bins(local_hours())
    gaps = long_gaps_of(place, hours)
    days = []
    for start, end in zip(bounds, bounds[1:]):
        within = [each for each in hours if start <= each["start"] < end]
        days.append([local(start).date(), *day_of(within, start, end, gaps)])

    def mean(wanted):
        volumes = [volume for date, volume, status in days if status == "VALID" and wanted(date.weekday() > 4)]
        return [rounded(Fraction(sum(volumes), len(volumes)), 3) if volumes else None, len(volumes)]

    return {
        "days": [[date.isoformat(), volume, status] for date, volume, status in days],
        "adt": mean(lambda weekend: True),
        "awdt": mean(lambda weekend: not weekend),
        "weekendAdt": mean(lambda weekend: weekend),
    }


def busiest(bins):
    best, most = None, 0
    for n in range(len(bins) - 3):
        hour = bins[n : n + 4]
        is_whole = all(each["status"] == "VALID" and each["start"] == hour[0]["start"] + i * QUARTER for i, each in enumerate(hour))
        volume = sum(each["volume"] for each in hour) if is_whole else 0
        if volume > most:
            best, most = hour, volume
    return best


def factor(volumes):
    return rounded(Fraction(sum(volumes)) / (4 * max(volumes)), 4) if max(volumes) > 0 else None


def peaks(bins, minute_of, total):
    def within(start, end):
        return [each for each in bins if start <= minute_of(each) and minute_of(each) + 15 <= end]

    am, pm = busiest(within(390, 630)), busiest(within(840, 1200))
    middle = (minute_of(am[-1]) + 15 if am else 630, minute_of(pm[0]) if pm else 840)
    result = []
    for window, bounds in (("AM", (390, 630)), ("MIDDAY", middle), ("PM", (840, 1200)), ("DAY", (0, 1440))):
        inside = within(*bounds)
        valid = sum(each["status"] == "VALID" for each in inside)
        hour = busiest(inside)
        if not hour:
            result.append([window, None, None, None, None, None, None, None, valid, {}])
            continue
        volume = sum(each["volume"] for each in hour)
        motor = [(key, n) for each in hour for key, n in each["cells"].items() if key[2] not in SLOW]
        directions = sorted({key[0] for key, _ in motor})
        sums = {d: sum(n for key, n in motor if key[0] == d) for d in directions}
        known = [(code, n) for (_, _, code), n in motor if code != "UNCLASSIFIED"]
        heavier = max(directions, key=lambda d: sums[d]) if len(directions) == 2 else None
        quarters = {
            d: [sum(n for key, n in each["cells"].items() if key[0] == d and key[2] not in SLOW) for each in hour]
            for d in directions
        }
        result.append(
            [
                window,
                hour[0]["start"],
                rounded(volume, 3),
                factor([each["volume"] for each in hour]),
                rounded(Fraction(volume) / total, 4) if total else None,
                rounded(Fraction(sums[heavier]) / sum(sums.values()), 4) if heavier else None,
                heavier,
                rounded(Fraction(sum(n for code, n in known if code in HEAVY)) / volume, 4) if known else None,
                valid,
                {d: [rounded(sums[d], 3), factor(quarters[d])] for d in directions},
            ]
        )
    return result


def peak_hours(place):
    bins = place.bins(list(range(FROM, UNTIL + 1, QUARTER)))
    bounds = midnights()
    gaps = long_gaps_of(place, place.bins(local_hours()))
    days, by_minute = [], {}

    def clock(each):
        at = local(each["start"])
        return at.hour * 60 + at.minute

    for start, end in zip(bounds, bounds[1:]):
        within = [each for each in bins if start <= each["start"] < end]
        volume, status = day_of(within, start, end, gaps)
        days.append([local(start).date().isoformat(), peaks(within, clock, volume if status == "VALID" else None)])
        for each in within:
            if each["status"] == "VALID":
                by_minute.setdefault(clock(each), []).append(each)
    means = []
    for minute, same in sorted(by_minute.items()):
        cells = {}
        for each in same:
            for key, n in each["cells"].items():
                cells[key] = cells.get(key, 0) + Fraction(n, len(same))
        volume = Fraction(sum(each["volume"] for each in same), len(same))
        means.append({"start": minute * MINUTE, "status": "VALID", "volume": volume, "cells": cells})
    total = sum(each["volume"] for each in means) if len(means) == 96 else None
    return {"days": days, "average": peaks(means, lambda each: each["start"] // MINUTE, total)}


def speed_study(place, units, limit):
    per_unit = Fraction(1) if units == "KMH" else Fraction("1.609344")
    speeds = []
    for vehicle in place.vehicles:
        if vehicle[3] in SLOW or vehicle[5] is None or not FROM <= vehicle[0] < UNTIL:
            continue
        speed = Fraction(str(vehicle[5]))
        if 0 < speed <= 250:
            value = speed / per_unit
            whole = math.floor(value + Fraction(1, 2))
            speeds.append(Fraction(whole) if abs(value - whole) <= Fraction(2, 1000) else value)
    speeds.sort()
    n = len(speeds)
    mean = sum(speeds) / n
    sd = math.sqrt(sum((speed - mean) ** 2 for speed in speeds) / (n - 1))

    def percentile(share):
        rank = (n - 1) * Fraction(share)
        low = math.floor(rank)
        return speeds[low] + (speeds[min(low + 1, n - 1)] - speeds[low]) * (rank - low)

    def share(number):
        return rounded(Fraction(number, n), 4)

    below = [bisect.bisect_left(speeds, start) for start in range(0, math.floor(speeds[-1]) + 12)]
    inside = [below[start + 10] - below[start] for start in range(len(below) - 10)]
    pace = max(range(len(inside)), key=lambda start: (inside[start], -start))
    posted = Fraction(str(rounded(Fraction(limit) / per_unit, 1)))
    half = 1.96 * math.sqrt(n * 0.85 * 0.15)
    ranks = math.floor(n * 0.85 - half), math.ceil(n * 0.85 + half)
    figures = {f"v{p}": rounded(percentile(Fraction(p, 100)), 1) for p in (15, 50, 85, 95, 98)}
    return {
        "n": n,
        "mean": rounded(mean, 1),
        "sd": rounded(sd, 1),
        **figures,
        "max": rounded(speeds[-1], 1),
        "limit": float(posted),
        "pace": [pace, share(inside[pace]), share(below[pace])],
        "over": [share(n - bisect.bisect_right(speeds, posted + by)) for by in (0, 5, 10, 15, 20)],
        "v85Confidence": [rounded(speeds[rank - 1], 1) for rank in ranks],
    }


def flow(place, limit):
    """Volumes and speeds by hour, by day and as a whole."""
    speeds = {}
    for vehicle in place.vehicles:
        if vehicle[3] not in SLOW and len(vehicle) > 5 and vehicle[5] is not None and 0 < vehicle[5] <= 250:
            speeds.setdefault(vehicle[0] // SLOT, []).append(Fraction(str(vehicle[5])))

    def point(each):
        known = [s for slot in range(each["start"] // SLOT, each["end"] // SLOT) for s in speeds.get(slot, [])]
        n = len(known)
        return [
            each["start"],
            each["status"],
            rounded(each["coverage"], 4),
            each["volume"],
            each["status"] == "VALID",
            n,
            rounded(sum(known) / n, 3) if n else None,
            rounded(Fraction(sum(speed > limit for speed in known), n), 4) if n else None,
        ]

    hour = busiest(place.bins(list(range(FROM, UNTIL + 1, QUARTER))))
    return {
        "hours": [point(each) for each in place.bins(local_hours())],
        "days": [point(each) for each in place.bins(midnights())],
        "whole": point(place.bins([FROM, UNTIL])[0]),
        "peak": [hour[0]["start"], sum(each["volume"] for each in hour), factor([each["volume"] for each in hour])],
    }


def annual(place):
    """Annual averages by three methods, factors and design hours."""
    hours = place.bins(local_hours())
    gaps = long_gaps_of(place, hours)
    of_day = {}
    for each in hours:
        of_day.setdefault(local(each["start"]).date(), []).append(each)
    cells, complete = {}, {}
    for start, end in zip(midnights(), midnights()[1:]):
        date = local(start).date()
        weekday = date.isoweekday() % 7
        within = of_day[date]
        volume, status = day_of(within, start, end, gaps)
        if status == "VALID":
            complete.setdefault((date.month, weekday), []).append(volume)
        for each in within:
            is_known = each["status"] in ("VALID", "PARTIAL") and each["coverage"] >= Fraction(75, 100)
            if each["end"] - each["start"] == HOUR and is_known and each["start"] not in gaps:
                cells.setdefault((date.month, weekday, local(each["start"]).hour), []).append(each["volume"])

    def mean(values):
        return None if not values or None in values else Fraction(sum(values), 1) / len(values)

    def weekday_mean(month, weekday):
        means = [mean(cells.get((month, weekday, hour))) for hour in range(24)]
        return None if None in means else sum(means)

    year = local(FROM).year
    lengths, madts = {}, {}
    for month in range(1, 13):
        first, next_one = datetime(year, month, 1), datetime(year + month // 12, month % 12 + 1, 1)
        lengths[month] = (next_one - first).days
        dates = [first + timedelta(days=n) for n in range(lengths[month])]
        madts[month] = mean([weekday_mean(month, date.isoweekday() % 7) for date in dates])
    known = [month for month in madts if madts[month] is not None]
    by_weekday = [mean([mean(complete[key]) for key in sorted(complete) if key[1] == weekday]) for weekday in range(7)]
    lacking = {month for month in madts if any((month, weekday) not in complete for weekday in range(7))}
    days = [volume for volumes in complete.values() for volume in volumes]
    values = {
        "FHWA": (sum(lengths[m] * madts[m] for m in known) / sum(lengths[m] for m in known), 12 - len(known)),
        "AASHTO": (mean(by_weekday), len(lacking)),
        "SIMPLE": (mean(days), 0),
    }
    result = {"months": [rounded(madts[month], 3) for month in sorted(madts)]}
    for method, (value, missing) in values.items():
        for allowed in (0, 1):
            is_known = missing <= allowed and (method != "SIMPLE" or len(days) >= 350)
            status = "INSUFFICIENT" if not is_known else "PROVISIONAL" if missing else "VALID"
            n = len(days) if method == "SIMPLE" else 12 - missing
            result[f"{method} {allowed}"] = [rounded(value, 3) if is_known else None, n, status]
    value = values["FHWA"][0] if values["FHWA"][1] == 0 else None
    exact = Fraction(str(rounded(value, 3))) if value is not None else None
    result["factors"] = [rounded(exact / madts[m], 3) if exact and madts[m] else None for m in sorted(madts)]
    valid = [each for each in hours if each["status"] == "VALID"]
    share = Fraction(sum(each["end"] - each["start"] for each in valid), UNTIL - FROM)
    top = sorted(valid, key=lambda each: (-each["volume"], each["start"]))[:100]
    is_known = share >= Fraction(95, 100) and exact
    result["design"] = [
        [[each["start"], each["volume"]] for each in top],
        [rounded(top[rank - 1]["volume"] / exact, 4) if is_known else None for rank in (30, 50, 100)],
        rounded(share, 4),
    ]
    return result


def figures(name, place):
    quarters = list(range(FROM, UNTIL + 1, QUARTER))
    result = {
        "quarters": counts(place, quarters, ["direction", "lane", "class"]),
        "days": counts(place, midnights(), ["direction", "lane"]),
        "peakHours": peak_hours(place),
        "dailyVolumes": daily(place),
    }
    if name == "radar":
        for units in ("KMH", "MPH"):
            result[f"speeds {units}"] = speed_study(place, units, given["limit"])
    return result


answers = {}
for case in given["cases"]:
    for name, make in (("radar", of_vehicles), ("loops", of_periods)):
        reviews = [review[1:] for review in case["reviews"] if review[0] == name]
        answer = figures(name, make(given[name], case["exclude"], reviews))
        if case["exclude"]:
            # A long silence is not judged there.
            answer["flow"] = flow(make(given[name], True, reviews, silence=False), given["limit"])
        answers[f"{case['name']}, {name}"] = answer
FROM, UNTIL = given["year"]
for name, sent in given["years"].items():
    answers[name] = annual(of_periods(sent, True, []))
json.dump(answers, sys.stdout)
