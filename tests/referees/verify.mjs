// Reads a JSON list of streams (lists of events) and answers a JSON list: the first error of
// @ag-ui/client's verifyEvents for each stream, or null. Usage: node verify.mjs < streams.json
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(`${process.argv[2]}/package.json`);
const { verifyEvents } = require("@ag-ui/client");
const { from, lastValueFrom } = require("rxjs");

console.warn = console.error = console.debug = () => {};
const answers = [];
for (const events of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    await lastValueFrom(verifyEvents(false)(from(events)), { defaultValue: null });
    answers.push(null);
  } catch (error) {
    answers.push(String(error?.message ?? error));
  }
}
process.stdout.write(JSON.stringify(answers));
