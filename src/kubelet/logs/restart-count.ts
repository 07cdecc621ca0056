/** The number of a container's start by the logs of earlier ones, for one that the runtime does not know any more. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { undefinedIfMissing } from '../volumes/files/missing.ts'

/** One more than the greatest number of a log, rotated ones too; 0 without logs. */
export async function restartCountByLogs(podLogFolder: string, container: string): Promise<number> {
  const entries = await readdir(join(podLogFolder, container), { withFileTypes: true }).catch(undefinedIfMissing)
  const numbers = (entries ?? [])
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => /^(\d+)\.log(\..*)?/.exec(name)?.[1])
    .filter((number) => number !== undefined)
  return Math.max(0, ...numbers.map((number) => Number(number) + 1))
}
