/** Runs rounds of the API torture and prints a line for each, until a promise is broken or the time is over. */
import { describe, showFaults } from './report.ts'
import { ApiTorture } from './torture.ts'

export interface RunOptions {
  readonly rounds: number
  readonly minutes: number
  readonly objects: number
  readonly writers: number
  readonly kills: number
  readonly seconds: number
}

/** Resolves to true if a promise was broken. */
export async function tortureApi({ rounds, minutes, objects, writers, kills, seconds }: RunOptions): Promise<boolean> {
  const deadline = performance.now() + minutes * 60_000
  const torture = await ApiTorture.begin(objects)
  console.log(`torturing a server with ${objects} objects in ${torture.directory}; it is kept if a promise is broken`)
  const sums = { kills: 0, acknowledged: 0, seen: 0 }
  for (let round = 0; round < rounds && performance.now() < deadline; round++) {
    const compact = round % 2 === 1
    const report = await torture.run({ seconds, kills, writers, compact })
    console.log(`round ${round + 1}${compact ? ', compacted' : ''}: ${kills} kills, ${describe(report)}`)
    sums.kills += kills
    sums.acknowledged += report.acknowledged
    sums.seen += report.lists + report.reads + report.events
    if (report.faults.length === 0) continue
    showFaults(report, torture.directory)
    return true
  }
  await torture.end()
  console.log(
    `${sums.kills} kills, ${sums.acknowledged} acknowledged writes, ${sums.seen} responses and events compared ` +
      'with them: no promise was broken',
  )
  return false
}
