/** The one style sheet: light and dark, phone and desktop, no file beside it. Contrasts are at least 4.5 : 1 in both schemes. */
export const style = `
:root{color-scheme:light dark;--bg:#fff;--panel:#f6f8fa;--fg:#1b1f24;--quiet:#57606a;--line:#d0d7de;--link:#0550ae;--focus:#0550ae;
--bad:#82071e;--bad-bg:#ffebe9;--good:#0f5323;--good-bg:#dafbe1;--warn:#633c01;--warn-bg:#fff8c5;--info:#0a3069;--info-bg:#ddf4ff;
--chart-1:#8250df;--chart-2:#b42318;--chart-3:#7a4e00}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--panel:#161b22;--fg:#e6edf3;--quiet:#9da7b3;--line:#3d444d;--link:#79b8ff;--focus:#79b8ff;
--bad:#ffb3ad;--bad-bg:#4a1512;--good:#7ee2a0;--good-bg:#0f3321;--warn:#f0cd7a;--warn-bg:#3d2c05;--info:#a5d0ff;--info-bg:#0c2d57;
--chart-1:#c297ff;--chart-2:#ff9a93;--chart-3:#e3b341}}
*{box-sizing:border-box}
html{scroll-behavior:smooth}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--bg);color:var(--fg);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;overflow-wrap:break-word}
.page{max-width:76rem;margin:0 auto;padding:0 1rem}
header,footer{padding:1.25rem 0}
header{border-bottom:1px solid var(--line)}
footer{border-top:1px solid var(--line);margin-top:2.5rem;color:var(--quiet);font-size:.9rem}
main{padding-bottom:1rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}
h2{font-size:1.25rem;line-height:1.3;margin:2.25rem 0 .75rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}
h3{font-size:1.05rem;line-height:1.35;margin:0;display:inline}
h4{font-size:.95rem;margin:1rem 0 .5rem}
p{margin:.4rem 0}
ul,ol{margin:.4rem 0;padding-left:1.4rem}
a{color:var(--link)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.875em}
code{overflow-wrap:anywhere}
pre{margin:.5rem 0;padding:.6rem .75rem;background:var(--panel);border:1px solid var(--line);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:.5rem;background:var(--bg);padding:.5rem;z-index:1}
.quiet{color:var(--quiet)}
.small{font-size:.875rem}
.chip{display:inline-block;padding:.05rem .5rem;border-radius:1rem;font-size:.8125rem;font-weight:600;line-height:1.5;white-space:nowrap}
.bad{color:var(--bad);background:var(--bad-bg)}.good{color:var(--good);background:var(--good-bg)}.warn{color:var(--warn);background:var(--warn-bg)}
.info{color:var(--info);background:var(--info-bg)}.chip.quiet{color:var(--fg);background:var(--panel);box-shadow:inset 0 0 0 1px var(--line)}
.verdict{display:flex;flex-wrap:wrap;gap:.35rem .6rem;align-items:baseline;margin:.6rem 0 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.6rem;margin:1.25rem 0 0;padding:0}
.tiles div{padding:.6rem .75rem;background:var(--panel);border:1px solid var(--line);border-radius:8px;display:flex;flex-direction:column-reverse}
.tiles dt{color:var(--quiet);font-size:.875rem}
.tiles dd{margin:0;font-size:1.5rem;font-weight:650;line-height:1.2}
.tiles .alarm dd{color:var(--bad)}
.tiles .alarm{border-color:var(--bad)}
nav ul{display:flex;flex-wrap:wrap;gap:.15rem 1rem;list-style:none;margin:1rem 0 0;padding:0}
nav a{display:inline-block;padding:.25rem 0}
.note{padding:.6rem .85rem;border-radius:8px;margin:.75rem 0;border-left:4px solid currentColor}
.note p:first-child{margin-top:0}.note p:last-child{margin-bottom:0}
.card{border:1px solid var(--line);border-radius:8px;margin:.6rem 0;padding:.6rem .85rem}
details.card{padding:0}
details.card>summary{padding:.6rem .85rem}
details.card>.inside{padding:0 .85rem .75rem;border-top:1px solid var(--line)}
summary{cursor:pointer}
summary .chip{margin-left:.35rem}
summary .quiet{margin-left:.35rem}
table{border-collapse:collapse;width:100%;margin:.6rem 0;font-size:.9rem}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{text-align:left;vertical-align:top;padding:.4rem .75rem .4rem 0;border-bottom:1px solid var(--line);font-weight:400}
thead th{font-weight:600;color:var(--quiet);white-space:nowrap}
tbody th b{font-weight:650}
@media (min-width:44.01rem){th:first-child{width:32%}td:nth-child(2),td:nth-child(3){min-width:5.5rem}}
.who{display:block}
.trace .who{display:inline}
.steps{list-style:none;padding:0}
.steps li{border:1px solid var(--line);border-radius:8px;margin:.6rem 0;padding:.6rem .85rem}
.done li{border-color:var(--good)}
.chart{display:grid;grid-template-columns:auto 1fr;gap:.25rem .6rem;max-width:60rem}
.chart .y{display:flex;flex-direction:column;justify-content:space-between;text-align:right}
.chart .x{grid-column:2;display:flex;justify-content:space-between}
.chart svg{display:block;width:100%;height:12rem;border-left:1px solid var(--line);border-bottom:1px solid var(--line);overflow:visible}
.chart path{fill:none;stroke-width:2;vector-effect:non-scaling-stroke}
.chart .dots{stroke-width:7;stroke-linecap:round}
.c1{stroke:var(--chart-1)}.c2{stroke:var(--chart-2)}.c3{stroke:var(--chart-3)}
path.c2:not(.dots){stroke-dasharray:7 4}path.c3:not(.dots){stroke-dasharray:2 4}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
.legend svg{width:2rem;height:.75rem;vertical-align:middle;margin-right:.4rem}
.legend path{fill:none;stroke-width:2}
@media (max-width:44rem){
h1{font-size:1.35rem}
.tiles{grid-template-columns:repeat(2,1fr)}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody,tr,th,td{display:block}
tbody tr{border-bottom:1px solid var(--line);padding:.5rem 0}
tbody th,tbody td{border:0;padding:.1rem 0}
tbody td:empty{display:none}
tbody td::before{color:var(--quiet);font-size:.8125rem;margin-right:.4rem}
.t-drift td:nth-child(2)::before,.t-plan td:nth-child(2)::before{content:"Live"}
.t-drift td:nth-child(3)::before{content:"Declared"}
.t-plan td:nth-child(3)::before{content:"After apply"}
.traced td:nth-child(4)::before{content:"Origin"}
.traced td:nth-child(5)::before,.bare td:nth-child(4)::before{content:"Why"}
.t-chart td:nth-child(2)::before{content:"Differences"}
.t-chart td:nth-child(3)::before{content:"Exposed"}
.t-chart td:nth-child(4)::before{content:"By hand"}
.who{display:inline}
}
@media print{details{break-inside:auto}.skip,nav{display:none}}
`.trim();
