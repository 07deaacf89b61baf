"""Tables as panels of a picture: curves where keys hold numbers, bars elsewhere, and gnuplot's words for them."""
import collections
import re
import statistics

import tables

Panel = collections.namedtuple("Panel", "unit curves bars")  # curves: {name: {x: y}}; bars: {name: {key: y}}
MOST_BARS = 30
HEIGHT = 280


def unit_of(column, before):
    """The unit of a column: in parentheses, or that of the column before, but for a ratio."""
    if match := re.search(r"\(([^()]*)\)$", column):
        return match[1]
    if match := re.search(r"(?:\b(us|ms|%)|(\w+/PE))$", column):
        return match[1] or match[2]
    if before.endswith("/PE"):
        return column
    if "/" in column or column == "ratio" or column.startswith(">"):
        return "ratio"
    return before or column


def split_key(key):
    """The curve and the place on it: ("lazy halo", 100), ("", 64 KiB); None as place of a key that has none."""
    words = re.match(r"^(.*?) ?(\d+(?: [KMG]?i?B)?)$", key)
    place = tables.size(words[2]) if words else None
    return (words[1].strip(), place) if place is not None else (key, None)


def is_of_curves(rows):
    keys = [split_key(key) for key, _ in rows]
    by_curve = collections.Counter(curve for curve, place in set(keys) if place is not None)
    return all(place is not None for _, place in keys) and any(count > 1 for count in by_curve.values())


def medians(rows, index):
    values = collections.defaultdict(list)
    for key, figures in rows:
        if figures[index] is not None:
            values[key].append(figures[index])
    return {key: statistics.median(all_of_key) for key, all_of_key in values.items()}


def curves_of(table, index):
    curves = collections.defaultdict(dict)
    for key, value in medians(table.rows, index).items():
        curve, place = split_key(key)
        name = " ".join(filter(None, [curve, re.sub(r" \([^()]*\)$", "", table.columns[index])]))
        if value > 0 and place > 0:  # axes are logarithmic
            curves[name][place] = value
    return {name: points for name, points in curves.items() if points}


def of_table(table):
    is_curves, unit, found = is_of_curves(table.rows), "", {}
    for index, column in enumerate(table.columns):
        unit = unit_of(column, unit)
        panel = found.setdefault(unit, Panel(unit, {}, {}))
        if is_curves:
            panel.curves.update(curves_of(table, index))
        elif bars := medians(table.rows, index):
            panel.bars[re.sub(r" \([^()]*\)$", "", column)] = bars
    return [panel for panel in found.values() if panel.curves or panel.bars]


def chosen(table):
    """What is drawn of a table: of counted instructions (columns operation, mode, library, ...) one bar for each library."""
    if table.columns[-1] == "error":  # a prediction's, of both signs: seen as the distance of two curves
        return tables.Table(table.columns[:-1], [(key, figures[:-1]) for key, figures in table.rows], table.key)
    if "instr" not in table.columns:
        return table
    index, by_call = table.columns.index("instr"), collections.defaultdict(dict)
    for key, figures in table.rows:
        cells = key.split(tables.BETWEEN)
        if len(cells) >= 3 and figures[index] is not None:
            by_call[f"{cells[0]}, {cells[1]}"][cells[2]] = figures[index]
    libraries = list(dict.fromkeys(library for bars in by_call.values() for library in bars))
    return tables.Table([f"{one} (instructions)" for one in libraries],
                        [(call, [bars.get(one) for one in libraries]) for call, bars in by_call.items()])


def of(found):
    """Curves of one unit over keys of one kind share a panel, so that a rival's table stands in Chime's."""
    all_panels, shared = [], {}
    for table in found:
        for panel in of_table(chosen(table)):
            host = shared.get((table.key, panel.unit)) if panel.curves and table.key else None
            if host and not host.curves.keys() & panel.curves.keys():
                host.curves.update(panel.curves)
                continue
            all_panels.append(panel)
            if panel.curves:
                shared[table.key, panel.unit] = panel
    return all_panels


def quoted(text):
    return '"' + re.sub(r'(["\\])', r"\\\1", str(text)) + '"'


def in_words(value):
    for unit, count in (("Mi", 1 << 20), ("Ki", 1 << 10)):
        if value >= count and value % count == 0:
            return f"{int(value) // count} {unit}"
    return f"{value:g}"


def curve_script(panel):
    places = sorted({x for points in panel.curves.values() for x in points})
    step = max(1, -(-len(places) // 8))
    ticks = ", ".join(f"{quoted(in_words(x))} {x:g}" for x in places[::step])
    text = f"set logscale xy\nset bmargin 3\nset xtics norotate ({ticks})\nset xrange [{places[0] / 1.3}:{places[-1] * 1.3}]\nset yrange [*:*]\n"
    names = list(panel.curves)
    text += "plot " + ", ".join(f"'-' using 1:2 with linespoints title {quoted(name)}" for name in names) + "\n"
    for name in names:
        text += "".join(f"{x:g} {y:g}\n" for x, y in sorted(panel.curves[name].items())) + "e\n"
    return text


def bar_script(panel):
    keys = list(dict.fromkeys(key for bars in panel.bars.values() for key in bars))[:MOST_BARS]
    text = "set style data histograms\nset style fill solid 0.7 noborder\nset xrange [*:*]\nset yrange [0:*]\n"
    text += "set xtics rotate by -35 left font ',8'\nset bmargin 9\n" if len(keys) > 4 else "set xtics norotate font ',8'\nset bmargin 3\n"
    text += "plot " + ", ".join(f"'-' using 2:xtic(1) title {quoted(name)}" for name in panel.bars) + "\n"
    for bars in panel.bars.values():
        text += "".join(f"{quoted(key.replace(tables.BETWEEN, ' '))} {bars.get(key, float('nan')):g}\n" for key in keys) + "e\n"
    return text


def script(panels, title, png):
    """What gnuplot reads."""
    text = f"set terminal png size 900,{HEIGHT * len(panels) + 40} font ',9'\nset output {quoted(png)}\n"
    text += f"set multiplot layout {len(panels)},1 title {quoted(title)} noenhanced\nset grid\nset key outside right noenhanced\n"
    for panel in panels:
        text += f"unset logscale\nset xtics autofreq\nset ylabel {quoted(panel.unit)} noenhanced\n"
        text += curve_script(panel) if panel.curves else bar_script(panel)
    return text + "unset multiplot\n"
