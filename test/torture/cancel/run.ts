/** Runs cancel storms in sequence and prints their results: `npm run torture -- --cancel`. */
import { Storm } from './storm.ts'

export interface CancelTortureOptions {
  readonly minutes: number
  /** Repeats the random choices of an earlier run; network and timing still differ. */
  readonly seed: number
}

const secondsOfStorm = 60

/** Resolves to true if a storm found a fault. The server's log is in the printed folder. */
export async function tortureCancel({ minutes, seed }: CancelTortureOptions): Promise<boolean> {
  const deadline = performance.now() + minutes * 60_000
  const storm = await Storm.begin(seed)
  console.log(`storming a server in ${storm.folder} with seed ${seed}; the folder is kept if there is a fault`)
  let sent = 0
  let faults: readonly string[] = []
  do {
    const seconds = Math.min(secondsOfStorm, Math.max(1, (deadline - performance.now()) / 1000))
    const report = await storm.run(seconds)
    sent += report.sent
    faults = report.faults
    console.log(
      `${sent} requests, ${report.left} of the last ${report.sent} were cancelled, ` +
        `${Math.round(report.residentMb)} MB resident`,
    )
  } while (faults.length === 0 && performance.now() < deadline)
  await storm.end(faults.length === 0)
  for (const fault of faults) console.log(fault)
  console.log(
    faults.length === 0
      ? 'the storm left no traces in the server'
      : `${faults.length} faults; the server's log: ${storm.folder}/server.log`,
  )
  return faults.length > 0
}
