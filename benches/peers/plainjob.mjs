// Adds jobs, then takes and finishes each, as a worker of plainjob does. Prints how many a second, of both.
import Database from "better-sqlite3";
import { better, defineQueue } from "plainjob";

const [file, count] = [process.argv[2], Number(process.argv[3])];
const database = new Database(file);
const quiet = { error: console.error, warn() {}, info() {}, debug() {} };
const queue = defineQueue({ connection: better(database), logger: quiet });
// plainjob chooses NORMAL, with which a commit does not wait for the disk.
database.pragma("synchronous = FULL");

const perSecond = (work) => {
  const began = process.hrtime.bigint();
  for (let number = 0; number < count; number += 1) work(number);
  return (count * 1e9) / Number(process.hrtime.bigint() - began);
};
const record = perSecond((number) => queue.add("release", { number, body: "x".repeat(300) }));
const run = perSecond(() => {
  const job = queue.getAndMarkJobAsProcessing("release");
  queue.markJobAsDone(job.id);
});
queue.close();
console.log(`${record} ${run}`);
