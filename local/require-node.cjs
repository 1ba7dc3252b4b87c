// Before anything that an older Node could not even read: it is told what is missing, in one line.
const { engines } = require("../package.json");

const floor = engines.node.replace(/^>=/, "");
const numbers = (version) => version.split(".").map(Number);
const [major, minor] = numbers(process.versions.node);
const [majorFloor, minorFloor] = numbers(floor);

if (major < majorFloor || (major === majorFloor && minor < minorFloor)) {
  console.error(`Node ${floor} or newer is needed; this is ${process.versions.node}.`);
  process.exit(1);
}
