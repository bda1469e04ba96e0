import { html } from "../../../../core/render/html/html.ts";
import { style } from "../../../../core/render/html/style.ts";

/** The style sheet of reports, and what only the controller's pages need. */
export const pageStyle = html`${style}
header{padding:1.5rem 0 .75rem}
h1{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .75rem;overflow-wrap:anywhere}
h1 .chip{letter-spacing:0}
section:first-child>.lead{margin-top:1.25rem}
.crumbs ol{display:flex;gap:.35rem;list-style:none;margin:0 0 .35rem;padding:0;font-size:.875rem}
.crumbs li::after{content:"/";margin-left:.35rem;color:var(--quiet)}
.crumbs a{padding:0}
.lead{font-size:1.0625rem;padding:.75rem 1rem;border-radius:8px;border-left:4px solid currentColor;margin:0 0 1rem}
.lead strong{font-size:1.1875rem;margin-right:.35rem}
.lead a{color:inherit}
.late{color:var(--warn);font-weight:600}
.empty{border:1px dashed var(--line);border-radius:8px;padding:1.25rem;margin:.75rem 0}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:.75rem 1.5rem;margin:1rem 0 .25rem}
.facts dt{color:var(--quiet);font-size:.8125rem}
.facts dd{margin:0;overflow-wrap:anywhere}
form{display:flex;flex-wrap:wrap;gap:.6rem .9rem;align-items:end;margin:2rem 0 0}
footer form{margin:.75rem 0 0}
#login form{margin:1.5rem 0 .75rem}
#login input{min-width:min(100%,22rem)}
label{display:flex;flex-direction:column;gap:.15rem;font-size:.8125rem;color:var(--quiet)}
input,select,button{font:inherit;font-size:.9375rem;color:var(--fg);background:var(--bg);border:1px solid var(--control);border-radius:6px;padding:.4rem .6rem;min-height:2.5rem}
select{max-width:16rem}
button{background:var(--panel);font-weight:600;padding:.4rem 1rem;cursor:pointer}
button:hover{border-color:var(--link)}
form a{padding:.5rem 0}
form+section h2,#accounts h2{margin-top:1.25rem}
.command{display:flex;gap:.5rem;align-items:flex-start;margin:.5rem 0}
.command pre{flex:1;margin:0;min-width:0}
.copy{display:none;min-height:2.25rem;padding:.3rem .7rem;font-size:.8125rem;flex:none}
.js .copy{display:block}
.labels,.why{display:block;font-size:.8125rem;line-height:1.45;overflow-wrap:anywhere}
.why{font-weight:400;max-width:34rem}
.accounts,.runs,.causes,.numbers{font-variant-numeric:tabular-nums}
.accounts th a,.runs th a{font-weight:600}
.inside>table:last-child{margin-bottom:-.25rem}
.place{overflow-wrap:anywhere}
.tiles{grid-template-columns:repeat(auto-fit,minmax(7rem,1fr))}
.tiles a,.tiles div{padding:.5rem .75rem}
.columns{columns:16rem;padding-left:1.2rem}
.pager{display:flex;gap:1rem;margin:1rem 0;font-size:.9375rem}
.timeline{max-width:60rem}
.timeline>p{margin:.75rem 0 .25rem}
.plot{display:grid;grid-template-columns:2.75rem 1fr;gap:.5rem}
.plot .y{display:flex;flex-direction:column;justify-content:space-between;text-align:right;font-variant-numeric:tabular-nums}
.plot svg{display:block;width:100%;height:6.5rem;border-left:1px solid var(--line);border-bottom:1px solid var(--line)}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
.legend svg{width:2rem;height:.75rem;vertical-align:middle;margin-right:.4rem}
.days{display:flex;justify-content:space-between;margin-left:3.25rem}
.timeline path,.timeline rect{fill:none;vector-effect:non-scaling-stroke}
.timeline .area{fill:url(#stripes)}
.timeline .stripe{stroke:var(--exposed);stroke-width:2}
.timeline .edge{stroke:var(--exposed);stroke-width:2}
.timeline .opened{fill:var(--opened);stroke:var(--opened);stroke-width:1}
.timeline .closed{stroke:var(--good);stroke-width:1.5}
.timeline .axis{stroke:var(--line)}
.timeline .unchecked{stroke:var(--quiet);stroke-width:2;stroke-dasharray:1 3}
:root{--control:#818b98;--opened:#8250df;--exposed:#b42318}
@media (prefers-color-scheme:dark){:root{--control:#656c76;--opened:#c297ff;--exposed:#ff9a93}}
@media (min-width:44.01rem){
.accounts tbody th,.runs tbody th,.causes tbody th,.findings tbody th,.events tbody th,.numbers tbody th{width:auto}
.accounts tbody td,.runs tbody td,.events tbody td,.numbers tbody td,.accounts tbody td:last-child:not(:only-of-type),.runs tbody td:last-child:not(:only-of-type),.findings tbody td:last-child:not(:only-of-type),.events tbody td:last-child:not(:only-of-type),.numbers tbody td:last-child:not(:only-of-type){min-width:0}
.accounts td:nth-child(3),.accounts td:nth-child(4),.accounts td:nth-child(5){text-align:right;padding-right:1.5rem}
.accounts th:nth-child(3),.accounts th:nth-child(4),.accounts th:nth-child(5){text-align:right;padding-right:1.5rem}
.accounts th,.accounts td{padding-top:.4rem;padding-bottom:.4rem}
.accounts td:nth-child(2),.accounts td:nth-child(n+6),.causes td:nth-child(2){white-space:nowrap}
.runs tbody th,.events tbody th{white-space:nowrap}
.causes tbody th{width:48%}
#closed tbody th{width:36%}
#closed tbody td:nth-child(3){min-width:9.5rem}
.causes tbody td:last-child:not(:only-of-type){min-width:14rem}
.findings{table-layout:fixed}
.findings thead th:first-child,.findings tbody th{width:40%}
.findings th:nth-child(2),.findings th:nth-child(3){width:12%}
.findings th:nth-child(5){width:8rem}
}
@media (max-width:44rem){
h1{font-size:1.3rem}
.accounts tbody tr,.runs tbody tr{display:grid;grid-template-columns:1fr 1fr;gap:.1rem 1rem}
.accounts tbody th{grid-column:1/-1}
.accounts tbody td:nth-child(2){grid-column:1/-1;padding:.15rem 0}
.accounts tbody td:nth-child(2)::before{content:none}
td:has(>.zero:only-child){display:none!important}
.causes tbody tr{display:grid;grid-template-columns:1fr 1fr;gap:.1rem 1rem}
.causes tbody th,.causes tbody td:last-child{grid-column:1/-1}
#state .tiles{grid-template-columns:repeat(2,1fr)}
.runs tbody th,.runs tbody td:nth-child(2),.runs tbody td:last-child{grid-column:1/-1}
.facts{grid-template-columns:1fr 1fr}
.tiles{grid-template-columns:repeat(3,1fr);gap:.4rem}
.tiles a,.tiles div{padding:.35rem .6rem}
.tiles strong{font-size:1.25rem}
.tiles span{font-size:.8125rem;line-height:1.3;display:block}
.lead{font-size:1rem}
form label{flex:1 1 9rem}
input,select{width:100%}
}`;
