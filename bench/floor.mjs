// The minimum for any client: GET the same bytes over kept connections, eight or CONCURRENCY at a
// time, and JSON.parse them. Usage: floor.mjs BASE KEY PATHS [CONCURRENCY]
import { readFileSync } from "node:fs";
import { Agent, get } from "node:http";

const [base, key, file, concurrency = "8"] = process.argv.slice(2);
const lanes = Number(concurrency);
const paths = readFileSync(file, "utf8").split("\n").filter(Boolean);
const agent = new Agent({ keepAlive: true, maxSockets: lanes });
let parsed = 0;

function read(path) {
  return new Promise((resolve, reject) => {
    get(base + path, { agent, headers: { "x-api-key": key } }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => {
        parsed += JSON.parse(Buffer.concat(chunks).toString("utf8")).data === undefined ? 0 : 1;
        resolve();
      });
    }).on("error", reject);
  });
}

async function worker() {
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) await read(path);
}

const total = paths.length;
await Promise.all(Array.from({ length: lanes }, worker));
agent.destroy();
if (parsed !== total) process.exitCode = 1;
