/** Resources of an idle cluster. */
import { setTimeout as delay } from 'node:timers/promises'
import { residentMegabytes } from '../server/server.ts'
import { type Bench, cpuSeconds } from './bench.ts'
import type { Measured } from './index.ts'

/** Time in ms until the work after the start is done. */
const restMs = 60_000
const measuredMs = 30_000

export async function benchIdle({ server }: Bench): Promise<Measured[]> {
  await delay(restMs)
  const cpu = await cpuSeconds(server, () => delay(measuredMs))
  return [
    {
      name: `resident memory ${restMs / 1000} s after the start`,
      value: residentMegabytes(server),
      unit: 'MB',
      target: 180,
    },
    {
      name: `CPU at rest, from then on for ${measuredMs / 1000} s`,
      value: (cpu * 100_000) / measuredMs,
      unit: '%',
      target: 1,
    },
  ]
}
