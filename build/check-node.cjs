// The first statement of bin.cjs. It must also run on versions of Node.js on which the rest does
// not run.
var nodeVersion = process.versions.node.split(".").map(Number);
if (nodeVersion[0] < 20 || (nodeVersion[0] === 20 && nodeVersion[1] < 19)) {
  console.error(`dimsync needs Node.js 20.19 or later; this is ${process.versions.node}.`);
  process.exit(1);
}
