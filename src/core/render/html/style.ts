import { html } from "./html.ts";

/** The style sheet: light and dark, phone and desktop, print. Contrasts are at least 4.5 : 1. */
export const style = html`:root{color-scheme:light dark;--bg:#fff;--panel:#f6f8fa;--fg:#1b1f24;--quiet:#57606a;--line:#d0d7de;--link:#0550ae;
--bad:#82071e;--bad-bg:#ffebe9;--bad-line:#e5534b;--good:#0f5323;--good-bg:#dafbe1;--warn:#633c01;--warn-bg:#fff8c5;--info:#0a3069;--info-bg:#ddf4ff;}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--panel:#161b22;--fg:#e6edf3;--quiet:#9da7b3;--line:#3d444d;--link:#79b8ff;
--bad:#ffb3ad;--bad-bg:#4a1512;--bad-line:#c93c37;--good:#7ee2a0;--good-bg:#0f3321;--warn:#f0cd7a;--warn-bg:#3d2c05;--info:#a5d0ff;--info-bg:#0c2d57;}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--bg);color:var(--fg);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;overflow-wrap:break-word}
.page{max-width:76rem;margin:0 auto;padding:0 1.25rem}
header{padding:2rem 0 1rem;border-bottom:1px solid var(--line)}
footer{padding:1.25rem 0 2rem;border-top:1px solid var(--line);margin-top:3rem;color:var(--quiet);font-size:.875rem}
h1{font-size:1.75rem;line-height:1.2;letter-spacing:-.01em;margin:0 0 .25rem}
.warned{font-size:.7em;font-weight:500;color:var(--bad);overflow-wrap:anywhere}
h2{font-size:1.25rem;line-height:1.3;margin:2.5rem 0 .75rem;scroll-margin-top:1rem}
h3{font-size:1.0625rem;line-height:1.4;margin:1.75rem 0 .5rem;scroll-margin-top:1rem}
summary h3{display:inline;margin:0;font-size:1rem}
h4{font-size:.9375rem;font-weight:600;margin:1rem 0 .25rem}
p{margin:.4rem 0}
ul,ol{margin:.4rem 0;padding-left:1.4rem}
a{color:var(--link);text-underline-offset:.15em}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.875em}
code{overflow-wrap:anywhere}
pre{margin:.5rem 0;padding:.55rem .75rem;background:var(--panel);border:1px solid var(--line);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:.5rem;background:var(--bg);padding:.5rem;z-index:1}
.quiet{color:var(--quiet)}
.small{font-size:.875rem}
.strong{font-weight:600}
.chip{display:inline-block;padding:.05rem .5rem;border-radius:1rem;font-size:.8125rem;font-weight:600;line-height:1.5;white-space:nowrap}
.bad{color:var(--bad);background:var(--bad-bg)}.good{color:var(--good);background:var(--good-bg)}.warn{color:var(--warn);background:var(--warn-bg)}
.info{color:var(--info);background:var(--info-bg)}.chip.quiet{color:var(--fg);background:var(--panel);box-shadow:inset 0 0 0 1px var(--line)}
.headline{display:flex;flex-wrap:wrap;gap:.35rem .6rem;align-items:baseline;margin:.75rem 0 0;font-size:1.0625rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(8rem,1fr));gap:.6rem;list-style:none;margin:1.25rem 0 0;padding:0}
.tiles a,.tiles div{display:block;height:100%;padding:.6rem .8rem;background:var(--panel);border:1px solid var(--line);border-radius:8px;color:inherit;text-decoration:none}
.tiles a:hover{border-color:var(--link)}
.tiles a:hover span{text-decoration:underline}
.tiles strong{display:block;font-size:1.5rem;font-weight:650;line-height:1.2;font-variant-numeric:tabular-nums}
.tiles span{color:var(--quiet);font-size:.875rem}
.tiles .alarm a,.tiles .alarm div{border-color:var(--bad-line)}
.tiles .alarm strong{color:var(--bad)}
nav ul{display:flex;flex-wrap:wrap;gap:0 1.1rem;list-style:none;margin:1rem 0 0;padding:0;font-size:.9375rem}
nav a{display:inline-block;padding:.3rem 0}
.note{padding:.7rem .9rem;border-radius:8px;margin:.75rem 0;border-left:4px solid currentColor}
.note pre{color:var(--fg)}
.note>:first-child,.card>:first-child,.steps>li>:first-child{margin-top:0}.note>:last-child,.card>:last-child,.steps>li>:last-child{margin-bottom:0}
.card,.steps>li{border:1px solid var(--line);border-radius:8px;margin:.6rem 0;padding:.7rem .9rem}
.steps{list-style:none;padding:0}
.beside{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:.6rem}
.beside li{margin:0}
details.card{padding:0}
details.card>summary{padding:.7rem .9rem;border-radius:8px}
details.card>.inside{padding:0 .9rem .75rem;border-top:1px solid var(--line)}
summary{cursor:pointer}
summary:hover{background:var(--panel)}
summary .chip,summary .quiet{margin-left:.35rem}
table{border-collapse:collapse;width:100%;margin:.6rem 0;font-size:.9375rem}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{text-align:left;vertical-align:top;padding:.5rem 1rem .5rem 0;border-bottom:1px solid var(--line);font-weight:400}
th:last-child,td:last-child{padding-right:0}
.inside tbody tr:last-child>*{border-bottom:0}
thead th{font-weight:600;color:var(--quiet);font-size:.875rem;white-space:nowrap}
tbody th b{font-weight:650}
.targets td{font-variant-numeric:tabular-nums}
.targets tbody th{font-weight:600}
@media (min-width:44.01rem){tbody th{width:36%}.rules tbody th{width:62%}.targets tbody th{width:auto}.rows tbody th{width:auto;white-space:nowrap}.rows td:not(:last-child){min-width:11rem}tbody td{min-width:5.5rem}tbody td:last-child:not(:only-of-type){min-width:14rem}.targets tbody td,.targets tbody td:last-child{min-width:0}}
.target{border-top:1px solid var(--line);margin-top:3rem}
.target:first-child{border-top:0;margin-top:0}.targets tbody tr:last-child,.targets tbody tr:last-child>*{border-bottom:0}
.target h2{font-size:1.5rem}
.who{display:block}
.trace .who{display:inline}
@media (max-width:44rem){
.page{padding:0 1rem}
header{padding-top:1.25rem}
h1{font-size:1.4rem}
.tiles{grid-template-columns:repeat(2,1fr)}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody,tr,th,td{display:block}
tbody tr{border-bottom:1px solid var(--line);padding:.6rem 0}
.inside tbody tr:last-child{border-bottom:0}
tbody th,tbody td{border:0;padding:.1rem 0}
tbody td:empty{display:none}
tbody td::before{content:attr(data-head);color:var(--quiet);font-size:.8125rem;margin-right:.5rem}
.who{display:inline}
}
@media print{.skip,nav{display:none}.card,.steps>li,tr{break-inside:avoid}}`;
