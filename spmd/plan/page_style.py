"""The style of a plan's page: the system's fonts, light and dark, for telephones and for wide windows."""

_COLORS = (
    ("#3b6fd4", "#7ba6ff"),
    ("#d9822b", "#f2a65a"),
    ("#2f9e77", "#5cc9a0"),
    ("#b0489a", "#dd82c9"),
    ("#7a808c", "#9aa2b1"),
    ("#c2a500", "#e3cb45"),
    ("#c0443c", "#f0837b"),
    ("#3a9bb5", "#6cc6de"),
)


_LIGHT, _DARK = (
    "".join(f"--c{index}:{pair[dark]};" for index, pair in enumerate(_COLORS, start=1))
    for dark in (False, True)
)
_CLASSES = "".join(
    f".c{i}{{fill:var(--c{i})}}.s{i}{{stroke:var(--c{i})}}.b{i}{{background:var(--c{i});border-color:var(--c{i})}}"
    for i in range(1, len(_COLORS) + 1)
)

STYLE = (
    ":root{--ink:#1c2330;--dim:#5b6472;--page:#f5f6f8;--card:#fff;--rule:#dfe3e8;--track:#e9ecf0;--good:#1e7d4f;"
    f"--bad:#b3261e;{_LIGHT}}}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--dim:#9aa3b2;--page:#14171c;--card:#1d2128;--rule:#323843;"
    f"--track:#2a2f38;--good:#6fd3a0;--bad:#ff8f86;{_DARK}}}}}"
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,"
    "sans-serif}"
    "main{max-width:68rem;margin:0 auto;padding:1rem;display:grid;grid-template-columns:1fr;gap:1rem}"
    "main>*{min-width:0}"
    "@media(min-width:56rem){main{grid-template-columns:1fr 1fr;padding:2rem 1.5rem}"
    "header,section,footer{grid-column:1/-1}section.half{grid-column:auto}}"
    "h1{font-size:1.5rem;line-height:1.2;margin:.2rem 0 .6rem;overflow-wrap:anywhere}"
    "h2{font-size:1.05rem;margin:0 0 .7rem}h3{font-size:.95rem;margin:1.1rem 0 .4rem}"
    "p{margin:.3rem 0}.who{color:var(--dim);font-size:.8rem;font-weight:400;white-space:nowrap}"
    ".small{color:var(--dim);font-size:.85rem;margin-top:.7rem}"
    "section{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:1rem}"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.6rem;margin-top:1rem}"
    ".card{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:.6rem .8rem;display:flex;"
    "flex-direction:column}.card>span:first-child{color:var(--dim);font-size:.85rem}.card strong{font-size:1.15rem}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.88rem}"
    "th{font-weight:600;color:var(--dim);font-size:.8rem;white-space:nowrap}"
    "th,td{text-align:left;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--rule);vertical-align:top}"
    "tr:last-child td{border-bottom:0}.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    "@media(max-width:40rem){.folds thead{display:none}.folds tr{display:block;border-bottom:1px solid var(--rule);"
    "padding:.4rem 0}.folds tr:last-child{border-bottom:0}.folds td{display:flex;justify-content:space-between;gap:1rem;"
    "border:0;padding:.1rem 0;text-align:right;overflow-wrap:anywhere;white-space:normal}"
    ".folds td:empty{display:none}.folds td::before{content:attr(data-name);color:var(--dim);text-align:left;"
    "white-space:nowrap}"
    "table:not(.folds) td:first-child:not(:only-child){position:sticky;left:0;background:var(--card)}}"
    "svg{display:block;width:100%;max-width:560px;height:auto}"
    "svg text{fill:var(--dim);font-size:11.5px}svg .value{fill:var(--ink)}svg .title{font-weight:600}"
    ".track{fill:var(--track)}.grid{stroke:var(--rule);stroke-width:.7}.limit{stroke:var(--bad);stroke-width:2}"
    ".line{fill:none;stroke-width:2}.dashed{stroke-dasharray:4 4}polyline.dashed{stroke-width:1.5}"
    ".legend{list-style:none;margin:.3rem 0 0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.85rem;"
    "color:var(--dim)}"
    ".key{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.45em}"
    ".key.dashed{height:0;border-top:2px dashed;border-radius:0;vertical-align:middle;background:none;width:1.3em}"
    ".pair{display:grid;grid-template-columns:1fr;gap:1rem}@media(min-width:56rem){.pair{grid-template-columns:1fr 1fr}}"
    "ul{margin:.2rem 0;padding-left:1.2rem}li{margin:.2rem 0}.legend li{margin:0}"
    ".ok{color:var(--good);font-weight:600}.look{color:var(--bad);font-weight:600}"
    "footer{color:var(--dim);font-size:.85rem}code{font-family:ui-monospace,monospace}" + _CLASSES
)
